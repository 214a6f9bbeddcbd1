"""What the paper says of its procedure, as far as the record can be held against it."""

from __future__ import annotations

WINDOWS = (("2012-07-11", "2013-07-11"), ("2012-07-11", "2014-07-11"))
"""Dates taken and uploaded: the first year, later extended by one."""

LIMITS = (100, 200)
"""Photographs searched for per class, first and later."""

TASK = 48
"""Images in a task."""

CONTROLS = 3
"""Validation images of the class, and of a similar class, that each task has at least."""

SEEN = 20
"""Validation images of each class that workers saw."""

THRESHOLD = 0.7
PER_CLASS = 10
CLASSES = 1000
DISTINCT = 20683
"""Distinct images in the three sets together."""
