"""The report in a real browser: charts drawn, light and dark, wide and narrow, printed, and nothing loaded."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.unit import report_inputs

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]
DARK, LIGHT = "0", "1"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--virtual-time-budget=60000", "--enable-logging=stderr",
)  # fmt: skip
# The report in a frame of a given width: a window cannot be as narrow as a phone.
FRAME = """<!doctype html><link rel="icon" href="data:,"><body style="margin:0"><iframe id="page" src="report.html" style="border:0;width:WIDTHpx;height:900px"></iframe>
<pre id="found"></pre><script>
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
document.getElementById("page").addEventListener("load", async (event) => {
  const view = event.target.contentWindow, page = view.document, found = {};
  const charts = [...page.querySelectorAll(".chart")];
  for (let i = 0; i < 200 && !charts.every((chart) => chart.querySelector("svg")); i++) await wait(100);
  await wait(300);
  found.charts = charts.map((chart) => {
    const svg = chart.querySelector("svg");
    return {
      id: chart.id, label: chart.getAttribute("aria-label"), text: chart.textContent,
      marks: svg ? svg.querySelectorAll(".mark-symbol path, .mark-rect path, .mark-text text").length : 0,
      inside: svg ? svg.getBoundingClientRect().width <= chart.getBoundingClientRect().width + 1 : false,
      high: svg ? svg.getBoundingClientRect().height : 0,
    };
  });
  found.width = page.documentElement.scrollWidth;
  found.paper = view.getComputedStyle(page.body).backgroundColor;
  const mark = page.querySelector("#chart-accuracy-matched_frequency .mark-symbol.role-mark path");
  found.mark = view.getComputedStyle(mark).fill;
  const box = mark.getBoundingClientRect();
  mark.dispatchEvent(new view.PointerEvent("pointermove", {
    bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2,
  }));
  await wait(100);
  const tip = page.getElementById("vg-tooltip-element");
  found.tip = tip && tip.classList.contains("visible") ? tip.textContent : "";
  const table = page.getElementById("models-table");
  const rows = () => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.dataset.model);
  found.rows = rows();
  table.tHead.rows[0].cells[0].querySelector("button").click();
  found.sorted = rows();
  found.sort = table.tHead.rows[0].cells[0].getAttribute("aria-sort");
  const search = page.getElementById("find-model");
  search.value = "Model_1";
  search.dispatchEvent(new view.Event("input"));
  await wait(300);
  found.searched = rows();
  found.faint = page.querySelectorAll("#chart-accuracy-matched_frequency .mark-symbol path[opacity='0.1']").length;
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>"""


@dataclass
class Site:
    """A host of the report and of frames around it; ``asked`` lists the paths that were asked for."""

    address: str
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module", params=["run", "record"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp(request.param)
    make = report_inputs.conducted if request.param == "run" else report_inputs.released
    report = report_inputs.page(make(data)).read_bytes()
    found = Site("")

    class Host(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            frame = re.fullmatch(r"/frame-(\d+)\.html", self.path)
            body = FRAME.replace("WIDTH", frame[1]).encode() if frame else report
            self.send_response(200 if frame or self.path == "/report.html" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are listed in ``asked``."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def browse(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def seen(site: Site, folder: Path, width: int, dress: str) -> dict[str, Any]:
    done = browse(
        folder, f"--window-size={max(width, 600)},1000", f"--blink-settings=preferredColorScheme={dress}",
        "--dump-dom", f"{site.address}/frame-{width}.html",
    )  # fmt: skip
    assert complaints(done) == []
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text and text[1], "the page did not get ready"
    found: dict[str, Any] = json.loads(html.unescape(text[1]))
    return found


@pytest.mark.parametrize(("width", "dress"), [(1280, LIGHT), (390, DARK)])
def test_it_is_drawn_and_can_be_used(site: Site, tmp_path: Path, width: int, dress: str) -> None:
    found = seen(site, tmp_path, width, dress)
    assert len(found["charts"]) > 15
    for chart in found["charts"]:
        assert chart["marks"] > 0 and chart["inside"] and chart["high"] > 80, chart
        assert chart["label"] and "could not be drawn" not in chart["text"]
    # No horizontal scrolling of the whole page.
    assert found["width"] <= width
    dark = dress == DARK
    assert found["paper"] == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
    assert found["mark"] == ("rgb(86, 180, 233)" if dark else "rgb(0, 114, 178)")
    assert "model_" in found["tip"]
    assert found["sorted"] == sorted(found["rows"]) != found["rows"] and found["sort"] == "ascending"
    assert found["searched"] == [row for row in found["sorted"] if row.startswith("model_1")]
    assert found["faint"] == len(found["rows"]) - len(found["searched"])


def test_it_prints_in_light_on_several_pages(site: Site, tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    done = browse(
        tmp_path, f"--blink-settings=preferredColorScheme={DARK}", "--no-pdf-header-footer",
        f"--print-to-pdf={target}", f"{site.address}/report.html",
    )  # fmt: skip
    assert complaints(done) == []
    pages = re.findall(rb"/Type\s*/Page\b", target.read_bytes())
    assert 3 <= len(pages) <= 40


def test_nothing_else_is_asked_for(site: Site) -> None:
    """Runs after the others: of all their visits to one host."""
    assert {re.sub(r"\d+", "N", path) for path in site.asked} == {"/frame-N.html", "/report.html"}
