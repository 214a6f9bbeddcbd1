"""What a page needs to draw charts, made fit to stand in HTML."""

from __future__ import annotations

import json

from markupsafe import Markup

from imagenetv2.analysis.figures.figure import Panel, for_page


def specification(panel: Panel) -> Markup:
    """A panel's Vega-Lite specification as JSON that can stand inside an HTML script element."""
    text = json.dumps(for_page(panel), ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def inert(script: str) -> Markup:
    """A script, none of whose strings can end the element that it stands in."""
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
