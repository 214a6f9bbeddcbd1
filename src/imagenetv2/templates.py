"""Pages from the templates of a room: everything is escaped, and a value that is not there is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str) -> Environment:
    """The environment of ``<package>/templates``; like Jinja's own, it drops the line end of a template's end."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
