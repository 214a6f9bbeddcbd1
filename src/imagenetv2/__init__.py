"""Re-make a benchmark's test set the way it was made, and measure what that does to models."""

from importlib.metadata import version

__version__ = version("imagenetv2")
