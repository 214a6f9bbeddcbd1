"""The task page in a real browser: what its script fills in, and when the button may be pressed."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest

from imagenetv2.annotation import pages
from imagenetv2.images import encode_jpeg
from tests.unit.annotation_inputs import picture

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]
TOKENS = [f"{n:032x}" for n in range(12)]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A host with one page and its pictures; all.html shows all of them, broken.html one that is not there."""
    folder = tmp_path / "site"
    folder.mkdir()
    target = pages.Target("n02088364", ("beagle",), "a small short-legged hound", ())
    for token in TOKENS:
        (folder / f"{token}.jpg").write_bytes(encode_jpeg(picture(int(token, 16))))
    (folder / "all.html").write_text(pages.render(target, "all.html", TOKENS), "utf-8")
    (folder / "broken.html").write_text(pages.render(target, "broken.html", [*TOKENS, "e" * 32]), "utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def document(tmp_path: Path, address: str, **query: str) -> str:
    """The page after its script has run and its pictures have come."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=5000", "--dump-dom", f"{address}?{urlencode(query)}",
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def tag(html: str, pattern: str) -> str:
    found = re.search(pattern, html)
    assert found, pattern
    return found.group(0)


def test_an_accepted_task_can_be_submitted_to_where_the_query_says(site: str, tmp_path: Path) -> None:
    html = document(
        tmp_path,
        f"{site}/all.html",
        assignmentId="3ASSIGN",
        hitId="H",
        workerId="W",
        turkSubmitTo="https://www.mturk.com",
    )
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in tag(html, "<form[^>]*>")
    assert 'value="3ASSIGN"' in tag(html, '<input[^>]*name="assignmentId"[^>]*>')
    assert "disabled" not in tag(html, "<button[^>]*>")
    assert "disabled" not in tag(html, '<input type="checkbox"[^>]*>')
    assert "0 selected" in html


def test_a_preview_can_be_looked_at_but_not_submitted(site: str, tmp_path: Path) -> None:
    html = document(
        tmp_path,
        f"{site}/all.html",
        assignmentId=pages.PREVIEW,
        hitId="H",
        turkSubmitTo="https://www.mturk.com",
    )
    assert "disabled" in tag(html, "<button[^>]*>")
    assert "hidden" not in tag(html, '<p[^>]*id="preview"[^>]*>')
    assert "action" not in tag(html, "<form[^>]*>")


def test_a_page_with_a_missing_picture_cannot_be_submitted_and_says_so(site: str, tmp_path: Path) -> None:
    html = document(
        tmp_path, f"{site}/broken.html", assignmentId="3ASSIGN", turkSubmitTo="https://www.mturk.com"
    )
    assert "disabled" in tag(html, "<button[^>]*>")
    assert "1 picture could not be loaded" in html


def test_a_forged_address_is_not_submitted_to(site: str, tmp_path: Path) -> None:
    html = document(
        tmp_path, f"{site}/all.html", assignmentId="3ASSIGN", turkSubmitTo="javascript:alert(1)//"
    )
    assert "javascript:" not in tag(html, "<form[^>]*>")
    assert "disabled" in tag(html, "<button[^>]*>")
