"""Labels of the data packs from the names of their files: python -m tests.labels.make PACKS."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
MIDDLE = {"vid_robust_examples": ("turtle", 442), "ytbb_robust_examples": ("cat", 732)}
"""Two takes of film and the frame in the middle of each, ten frames (a third of a second) from either end."""
PICTURES = {".jpg", ".jpeg", ".png"}


def near_duplicates(folder: Path) -> list[tuple[str, str, str, str]]:
    """Rows of image, group, kind and strength: one bird and its copies, two takes, and unrelated photographs."""
    rows = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in PICTURES:
            continue
        name = path.relative_to(folder).as_posix()
        if path.parent == folder:
            corruption = re.fullmatch(r"(\w+)_(\d)", path.stem)
            kind, strength = corruption.groups() if corruption else (path.stem, "1")
            row = (kind.replace("_", " "), strength) if path.stem != "bird" else ("", "")
            rows.append((name, "bird", *row))
        elif path.parent.name in MIDDLE:
            group, middle = MIDDLE[path.parent.name]
            apart = abs(int(path.stem.removeprefix("frame-")) - middle)
            rows.append((name, group, *((f"frames apart, {group}", str(apart)) if apart else ("", ""))))
        else:
            rows.append((name, "", "", ""))
    return rows


def hostile(folder: Path) -> list[tuple[str, str, str, str]]:
    """Likewise: one photograph, its edited copies and its copies in unusual colour modes, and another picture."""
    rows = []
    for path in sorted(folder.iterdir()):
        what, _, how = path.stem.partition("-")
        words = {"bridge": f"edited, {how.replace('-', ' ')}", "mode": f"colour mode, {how}"}.get(what, "")
        kind = "" if how == "aaa-orig" else words.replace("colour mode, original", "the same file again")
        rows.append((path.name, "bridge" if words else "", kind, ""))
    return rows


def main(packs: Path) -> None:
    for name, rows in (("near-duplicates", near_duplicates), ("hostile", hostile)):
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("image", "group", "kind", "strength"))
            writer.writerows(rows(packs / name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
