"""People's review: sheets, recording, and the store, from the first sheet to a frozen set."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from imagenetv2.benchmark.stages import CLASSES, REFERENCE
from imagenetv2.candidates.stages import CANDIDATES
from imagenetv2.commands import review
from imagenetv2.config import Config
from imagenetv2.duplicates.stages import NEIGHBOURS, PAIR_VERDICTS
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.plan import Plan
from imagenetv2.review import people, queue, sheets
from imagenetv2.review.record import Recorded, record
from imagenetv2.review.store import MOMENT, ClassVerdict, PairVerdict, append, read
from imagenetv2.versions import plan as plan_versions

from .small_review import archive, photograph, rows

IDS = [f"i{k}" for k in range(6)]
PAIR = {"image_id": "i0", "neighbour_id": "r0", "verdict": "duplicate", "reviewer": "Ada", "note": ""}


@pytest.fixture
def plan(make_job: Callable[..., Any], tmp_path: Path) -> Plan:
    """Two classes of six candidates and four validation images; two pairs are below a cut-off."""
    candidates = [
        {"image_id": f"{w}{i}", "wnid": w, "file": f"{w}/{i}.png", "spread": 12.0}
        for w in ("n1", "n2")
        for i in IDS
    ]
    reference = [
        {"image_id": f"{w}r{k}", "wnid": w, "file": f"{w}/r{k}.png", "split": "val"}
        for w in ("n1", "n2")
        for k in range(4)
    ]
    near = [
        {"image_id": "n1i0", "neighbour_id": "n1r0", "origin": "val"},
        {"image_id": "n1i1", "neighbour_id": "n2i1", "origin": "candidates"},
        {"image_id": "n1i2", "neighbour_id": "n2r2", "origin": "val", "distance": 1e12},
    ]
    classes = [
        {"wnid": w, "class_index": k, "lemmas": ["a <b>", "lemma & co"], "definition": f"what {w} is"}
        for k, w in enumerate(("n1", "n2"))
    ]
    config = Config.model_validate(
        {
            "review": {"reviewer": "people", "store": tmp_path / "verdicts", "beside": 3},
            "sampling": {"eligibility": {"per_class": 2}},
        }
    )
    inputs = {
        "classes": {"classes.parquet": rows(CLASSES, *classes)},
        "candidates": {
            "candidates.parquet": rows(CANDIDATES, *candidates),
            "images.zip": archive({str(c["file"]): photograph(k) for k, c in enumerate(candidates)}),
        },
        "reference": {
            "reference.parquet": rows(REFERENCE, *reference),
            "images.zip": archive({str(c["file"]): photograph(k + 90) for k, c in enumerate(reference)}),
        },
        "frequencies": {
            "frequencies.parquet": pd.DataFrame(
                {
                    "image_id": [c["image_id"] for c in candidates], "wnid": [c["wnid"] for c in candidates],
                    "origin": "candidates", "negative": False, "shown": 10, "selected": 9, "frequency": 0.9,
                    "low": 0.0, "high": 1.0,
                }
            )
        },
        "duplicates": {
            "fates.parquet": pd.DataFrame(
                {
                    "image_id": [c["image_id"] for c in candidates], "wnid": [c["wnid"] for c in candidates],
                    "component": "", "fate": "free", "reason": "", "place": 0,
                    "flags": [[] for _ in candidates],
                }
            )
        },
        **{f"neighbours/{m}": {"neighbours.parquet": rows(NEIGHBOURS, *near)} for m in ("l2", "fc7", "ssim")},
    }  # fmt: skip
    job = make_job("datasets/top_images", config=config, inputs=inputs)
    return Plan(config, stages(config), job.versions, job.data)


def saved(path: Path, kind: str, *verdicts: dict[str, Any], reviewer: str = "Ada") -> Path:
    """A file as a sheet saves it."""
    path.write_text(json.dumps({"kind": kind, "name": "x", "reviewer": reviewer, "verdicts": verdicts}))
    return path


def of_class(wnid: str, images: list[str], *bad: str) -> dict[str, Any]:
    return {"wnid": wnid, "images": images, "blacklisted": list(bad), "reasons": ["blurred"] * len(bad)}


def test_pairs_are_asked_for_until_judged(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "sheets"
    written = sheets.write(plan, "pairs", folder, 1)
    assert [p.name for p in written] == ["pairs-001.html", "pairs-002.html"]
    page = written[0].read_text("utf-8")
    assert page.count("data:image/jpeg;base64,") == 2
    assert 'data-image="n1i0" data-neighbour="n1r0"' in page and "validation image" in page
    assert not re.search(r"""(src|href)=["']?https?:""", page)
    one = {"image_id": "n1i0", "neighbour_id": "n1r0", "verdict": "duplicate", "note": "same dog"}
    file = saved(tmp_path / "one.json", "pairs", one)
    morning = datetime(2025, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert record(plan, file, morning) == Recorded("pairs", 1, 0, ())
    assert record(plan, file) == Recorded("pairs", 0, 1, ())
    assert queue.pairs_waiting(plan)["image_id"].tolist() == ["n1i1"]
    assert record(plan, saved(file, "pairs", {**one, "verdict": "different"})).added == 1
    store = read(plan.config.review.store / "pairs.jsonl", PairVerdict)
    assert [(v.verdict, v.reviewer, v.note) for v in store] == [
        ("duplicate", "Ada", "same dog"),
        ("different", "Ada", "same dog"),
    ]
    assert store[0].time == "2025-03-01T07:30:00Z"
    assert store[0].time < store[1].time <= datetime.now(UTC).strftime(MOMENT)


def test_nobody_is_asked_about_an_image_and_itself(plan: Plan, tmp_path: Path) -> None:
    folder = plan.data / "neighbours/l2" / plan.versions["neighbours/l2"]
    assert plan.folder("neighbours/l2") == folder
    near = pd.read_parquet(folder / "neighbours.parquet")
    itself = {**near.iloc[0].to_dict(), "neighbour_id": "n1i0"}
    pd.concat([near, pd.DataFrame([itself])], ignore_index=True).to_parquet(folder / "neighbours.parquet")
    assert queue.pairs_waiting(plan)[["image_id", "neighbour_id"]].to_numpy().tolist() == [
        ["n1i0", "n1r0"],
        ["n1i1", "n2i1"],
    ]
    assert len(sheets.write(plan, "pairs", tmp_path / "sheets", 1)) == 2
    one = {"image_id": "n1i0", "neighbour_id": "n1i0", "verdict": "different", "note": ""}
    other = {**one, "neighbour_id": "n1r0"}
    stale = "n1i0 and itself have the same pixels, which nobody has to judge"
    with pytest.raises(
        InputError, match=rf"{stale}\); write a new sheet with imagenetv2 review sheet pairs\."
    ):
        record(plan, saved(tmp_path / "a.json", "pairs", one))
    assert record(plan, saved(tmp_path / "b.json", "pairs", one, other)) == Recorded("pairs", 1, 0, (stale,))


def test_verdicts_hold_for_a_pair_in_either_order(plan: Plan, tmp_path: Path) -> None:
    swapped = {"image_id": "n1r0", "neighbour_id": "n1i0", "verdict": "different", "note": ""}
    path = plan.config.review.store / "pairs.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({**swapped, "reviewer": "Ada"}) + "\n")
    assert read(path, PairVerdict)[0].time == ""
    assert queue.pairs_waiting(plan)["image_id"].tolist() == ["n1i1"]
    straight = {**swapped, "image_id": "n1i0", "neighbour_id": "n1r0"}
    assert record(plan, saved(tmp_path / "x.json", "pairs", straight)) == Recorded("pairs", 0, 1, ())


def test_a_sheet_says_what_found_a_pair_and_what_to_look_at_twice(plan: Plan, tmp_path: Path) -> None:
    page = sheets.write(plan, "pairs", tmp_path, 1)[0].read_text("utf-8")
    # Distances are 0 under all three metrics, and the pictures' spread is 12 and 0.
    assert page.count("found this pair") == 3 and page.count('class="near"') == 3
    assert page.count("Look twice:") == 1 and "nearly flat" in page
    assert [queue.pairs_waiting(plan)["flags"].tolist()] == [[["flat"], []]]


def test_classes_are_asked_for_until_accepted(plan: Plan, tmp_path: Path) -> None:
    (sheet,) = sheets.write(plan, "top_images", tmp_path, 10)
    page = sheet.read_text("utf-8")
    assert sheet.name == "top_images-revision-0-001.html"
    assert "a &lt;b&gt;, lemma &amp; co" in page and page.count("data:image/jpeg;base64,") == 2 * (2 + 3)
    first = saved(
        tmp_path / "a.json",
        "top_images",
        of_class("n1", ["n1i5", "n1i4"], "n1i5"),
        of_class("n2", ["n2i4", "n2i5"]),
    )
    assert record(plan, first) == Recorded("top_images", 2, 0, ())
    assert record(plan, first) == Recorded("top_images", 0, 2, ())
    now = queue.classes(plan, "top_images")
    assert (now.revision.number, now.waiting) == (1, ["n1"])
    assert now.classes["n1"].ids == ("n1i3", "n1i4")
    old = saved(tmp_path / "b.json", "top_images", of_class("n1", ["n1i4", "n1i5"]), of_class("n2", ["n2i4", "n2i5"]), reviewer="Bob")  # fmt: skip
    result = record(plan, old)
    assert (result.added, result.stale) == (1, ("n1 holds other images in revision 1",))
    assert record(plan, saved(tmp_path / "c.json", "top_images", of_class("n1", ["n1i3", "n1i4"]))).added == 1
    assert queue.classes(plan, "top_images").waiting == []
    assert sheets.write(plan, "top_images", tmp_path, 10) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "kind is none of pairs, matched_frequency"),
        ('{"kind": "pairs", "reviewer": " ", "verdicts": []}', "reviewer is empty"),
        ('{"kind": "pairs", "reviewer": "Ada", "verdicts": [1]}', "not a list of objects"),
        ('{"kind": "pairs", "reviewer": "Ada", "verdicts": []}', "holds no verdicts"),
        ('{"kind": "pairs", "reviewer": "Ada", "verdicts": [{"image_id": "a"}]}', r"verdicts\[0\]: neighbour_id: Field"),
        (
            '{"kind": "pairs", "reviewer": "Ada", "verdicts": [{"image_id": "a", "neighbour_id": "b", "verdict": "different"}]}',
            "nothing in it is asked for any more",
        ),
        (
            '{"kind": "top_images", "reviewer": "Ada", "verdicts": [{"wnid": "n1", "images": ["a"], "blacklisted": ["b"], "reasons": ["x"]}]}',
            "blacklisted names b, which is not among images",
        ),
    ],
)  # fmt: skip
def test_files_that_no_sheet_saved(plan: Plan, tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        record(plan, file)
    assert str(caught.value).startswith(str(file))
    assert not list(plan.config.review.store.glob("*.jsonl"))


def test_the_simulated_reviewer_waits_for_nobody(plan: Plan, tmp_path: Path) -> None:
    simulated = Plan(Config(), plan.stages, plan.versions, plan.data)
    with pytest.raises(InputError, match=r"review\.reviewer is simulated"):
        sheets.write(simulated, "pairs", tmp_path, 1)
    with pytest.raises(InputError, match=r"foo is none of pairs, matched_frequency"):
        sheets.write(simulated, "foo", tmp_path, 1)


@pytest.mark.parametrize(
    ("each", "said"), [(1, "2 pages to look at: open them"), (9, "1 page to look at: open it")]
)
def test_the_command_counts_pages_and_verdicts(
    plan: Plan,
    tmp_path: Path,
    each: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(review, "plan", lambda _: plan)
    review.run_sheet(Namespace(kind="pairs", out=tmp_path / "sheets", each=each))
    assert said in capsys.readouterr().out
    one = {"image_id": "n1i0", "neighbour_id": "n1r0", "verdict": "different", "note": ""}
    for counts in ("1 verdict recorded, 0 known before", "0 verdicts recorded, 1 known before"):
        review.run_record(Namespace(file=saved(tmp_path / "one.json", "pairs", one)))
        assert counts in capsys.readouterr().out


def test_a_torn_last_line_is_dropped_and_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    assert read(path, PairVerdict) == []
    append(path, [PairVerdict(**PAIR)])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    assert len(read(path, PairVerdict)) == 1
    append(path, [PairVerdict(**{**PAIR, "note": "zwei Fotos, außen"})])
    assert [v.note for v in read(path, PairVerdict)] == ["", "zwei Fotos, außen"]
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    append(path, [PairVerdict(**PAIR)])
    assert len(read(path, PairVerdict)) == 3
    path.write_bytes(b'{"image_id": "a"\n' + whole)
    with pytest.raises(InputError, match=r"pairs\.jsonl, line 1: .*remove the line"):
        read(path, PairVerdict)
    path.write_bytes(whole + json.dumps({**PAIR, "time": "yesterday"}).encode() + b"\n")
    with pytest.raises(InputError, match=r"pairs\.jsonl, line 2: time: "):
        read(path, PairVerdict)
    path.write_bytes(whole + json.dumps({**PAIR, "verdict": "maybe"}).encode() + b"\n")
    with pytest.raises(InputError, match=r"pairs\.jsonl, line 2: verdict: Input should be 'duplicate'"):
        read(path, PairVerdict)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"round": -1}, "round"),
        ({"images": []}, "images"),
        ({"images": ["a", "a"]}, "twice"),
        ({"blacklisted": ["a"]}, "one reason for each"),
        ({"blacklisted": ["a", "a"], "reasons": ["x", "x"]}, "twice"),
        ({"verdict": "x"}, "verdict"),
    ],
)
def test_lines_of_a_rule(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    line = {
        "round": 0,
        "wnid": "n1",
        "images": ["a", "b"],
        "blacklisted": [],
        "reasons": [],
        "reviewer": "Ada",
    }
    path = tmp_path / "threshold.jsonl"
    path.write_text(json.dumps({**line, **change}) + "\n")
    with pytest.raises(InputError, match=message):
        read(path, ClassVerdict)


def test_the_store_is_part_of_the_version_and_becomes_the_table(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    config = Config.model_validate({"review": {"reviewer": "people", "store": tmp_path / "verdicts"}})

    def versions() -> dict[str, str]:
        return plan_versions(stages(config), config.seed)

    empty = versions()
    job = make_job("reviews/pairs", config=config)
    people.run_pairs(job)
    assert len(pd.read_parquet(job.out.folder / "verdicts.parquet")) == 0
    (tmp_path / "verdicts").mkdir()
    append(tmp_path / "verdicts" / "pairs.jsonl", [PairVerdict(**PAIR)])
    first = versions()
    assert {n for n in empty if n.startswith("reviews/") and empty[n] != first[n]} == {"reviews/pairs"}
    assert empty["duplicates"] != first["duplicates"]
    append(tmp_path / "verdicts" / "pairs.jsonl", [PairVerdict(**{**PAIR, "verdict": "different"})])
    assert versions()["reviews/pairs"] not in (empty["reviews/pairs"], first["reviews/pairs"])
    job = make_job("reviews/pairs", config=config)
    people.run_pairs(job)
    table = pd.read_parquet(job.out.folder / "verdicts.parquet")
    assert table["verdict"].tolist() == ["duplicate", "different"]
    assert [c.name for c in PAIR_VERDICTS.columns] == list(table.columns)

    line = ClassVerdict(round=0, wnid="n1", images=["b", "a"], blacklisted=[], reasons=[], reviewer="Ada")
    append(tmp_path / "verdicts" / "threshold.jsonl", [line, line.model_copy(update={"round": 1})])
    job = make_job("reviews/threshold", config=config)
    with pytest.raises(InputError, match=r"threshold\.jsonl: verdict 1 .* revision 1"):
        people.run_rule(job)
    (tmp_path / "verdicts" / "threshold.jsonl").unlink()
    append(tmp_path / "verdicts" / "threshold.jsonl", [line])
    job = make_job("reviews/threshold", config=config)
    people.run_rule(job)
    table = pd.read_parquet(job.out.folder / "verdicts.parquet")
    assert [list(i) for i in table["images"]] == [["a", "b"]]


JUDGE = """<script>
URL.createObjectURL = blob => { blob.text().then(t => { const out = document.createElement("pre");
  out.id = "saved"; out.textContent = t; document.body.append(out); }); return "#"; };
document.querySelectorAll("input[value=duplicate], input[type=checkbox]").forEach(i => i.click());
const select = document.querySelector("select");
if (select) select.selectedIndex = 2;
document.getElementById("reviewer").value = "Ada";
document.dispatchEvent(new Event("input"));
document.querySelector("#save button").click();
</script>"""


KEYS = """<script>
for (const key of ["j", "f", "d", "u", "k", "k", "n", "Escape", "d"])
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const out = document.createElement("pre");
out.id = "saved"; out.textContent = given().map(v => v.neighbour_id + " " + v.verdict).join(", ");
document.body.append(out);
</script>"""


def dom(sheet: Path, script: str, profile: Path) -> str:
    """What is in the element ``saved`` after a script at the end of a page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on the path")
    sheet.write_text(sheet.read_text("utf-8").replace("</body>", script + "</body>"), "utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
    page = subprocess.run(
        [chromium, *flags.split(), f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom", sheet.as_uri()],
        capture_output=True, text=True, timeout=90, check=True,
    ).stdout  # fmt: skip
    found = re.search(r'<pre id="saved">(.*?)</pre>', page, re.DOTALL)
    assert found, page[-2000:]
    return found[1]


@pytest.mark.browser
def test_pairs_are_judged_with_keys(plan: Plan, tmp_path: Path) -> None:
    # Down; different; there is no further pair: duplicate; taken back; up twice; a note, left; duplicate.
    (sheet,) = sheets.write(plan, "pairs", tmp_path, 10)
    assert dom(sheet, KEYS, tmp_path / "profile") == "n1r0 duplicate"


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["pairs", "top_images"])
def test_what_a_browser_saves_can_be_recorded(plan: Plan, tmp_path: Path, kind: str) -> None:
    (sheet,) = sheets.write(plan, kind, tmp_path, 10)
    file = tmp_path / "saved.json"
    file.write_text(dom(sheet, JUDGE, tmp_path / "profile"))
    assert record(plan, file) == Recorded(kind, 2, 0, ())
    if kind == "top_images":
        lines = read(plan.config.review.store / "top_images.jsonl", ClassVerdict)
        assert [len(v.blacklisted) for v in lines] == [1, 0]
        assert lines[0].reasons == [sheets.REASONS[1]]
        assert queue.classes(plan, kind).waiting == ["n1"]
