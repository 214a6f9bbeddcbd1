"""``imagenetv2 nearest``: exact nearest neighbours between folders of pictures, without a configuration."""

from __future__ import annotations

import argparse
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.atomically import write_bytes
from imagenetv2.commands.options import available, in_options, require_writable, whole
from imagenetv2.duplicates.metrics import METRICS

if TYPE_CHECKING:
    from imagenetv2.duplicates.nearest.find import Found
    from imagenetv2.duplicates.nearest.options import Wanted
    from imagenetv2.duplicates.nearest.sets import Sets

OPTIONS = ("side", "window", "network", "layer", "preprocessing", "input", "weights", "k", "within")


def add(commands: Any) -> None:
    """Declare ``nearest``."""
    parser = commands.add_parser(
        "nearest",
        help="find near-duplicates between two folders of pictures",
        description="For each candidate its nearest pictures among the references or, without --to, among the other "
        "candidates: exact distances, no pair missed, no configuration needed. Writes neighbours.csv, "
        "neighbours.parquet, unreadable.csv and the page nearest.html with the nearest pairs side by side.",
    )
    parser.add_argument(
        "candidates",
        type=Path,
        nargs="+",
        metavar="CANDIDATES",
        help="folders, .tar or .zip archives, pictures",
    )
    parser.add_argument(
        "--to",
        type=Path,
        nargs="+",
        metavar="REFERENCES",
        help="what they are compared with (default: each other)",
    )
    _add_settings(parser)
    _add_resources(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("nearest"), metavar="DIR",
        help="folder to write (default: nearest); what lies in it is not read",
    )  # fmt: skip
    parser.add_argument(
        "--page", type=whole(0), default=100, metavar="N", help="pairs on the page (default: 100; 0: no page)"
    )
    parser.set_defaults(run=run)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """The metric and what it depends on."""
    parser.add_argument(
        "--metric", choices=sorted(METRICS), default="l2",
        help="l2: pixels; fc7: features of a network; ssim: structural similarity (default: l2)",
    )  # fmt: skip
    parser.add_argument(
        "--study", action="store_true",
        help="the study's values: 256 pixels, its network and window, all pairs within its cut-off",
    )  # fmt: skip
    parser.add_argument("-k", type=whole(0), metavar="N", help="neighbours of each candidate (default: 30)")
    parser.add_argument(
        "--within",
        type=_distance,
        metavar="D",
        help="also every pair at or below this distance; alone with -k 0",
    )
    parser.add_argument("--side", type=whole(1), metavar="N", help="squash pictures to N × N pixels")
    parser.add_argument("--window", type=whole(1), metavar="N", help="ssim: side of the uniform window, odd")
    parser.add_argument(
        "--network", metavar="NAME", help="fc7: efficientnet_lite0, vgg16, timm:… or torchvision:…"
    )
    parser.add_argument("--layer", metavar="NAME", help="fc7: module of the network whose output is compared")
    parser.add_argument("--preprocessing", choices=("standard", "paper"), help="fc7: paper is raw 0 to 255")
    parser.add_argument(
        "--input", type=whole(1), metavar="N", help="fc7: input size of the network, in pixels"
    )
    parser.add_argument("--weights", type=Path, metavar="FILE", help="fc7: weights of the network")


def _add_resources(parser: argparse.ArgumentParser) -> None:
    """Where it runs and with how much; none of it changes a result."""
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU if there is one"
    )
    parser.add_argument(
        "--memory",
        type=_gigabytes,
        default=4.0,
        metavar="GB",
        help="memory that the search may allocate (default: 4)",
    )
    parser.add_argument(
        "--cores", type=whole(1), default=available(), metavar="N", help="threads (default: all there are)"
    )


@in_options
def run(options: argparse.Namespace) -> int:
    """List the pictures, say what the search takes, search, write, and say what was found."""
    from imagenetv2.duplicates.cost import sentence
    from imagenetv2.duplicates.folders import pictures
    from imagenetv2.duplicates.nearest.find import Finder, workplace
    from imagenetv2.duplicates.nearest.options import wanted
    from imagenetv2.duplicates.nearest.sets import Sets
    from imagenetv2.duplicates.settings import Search

    require_writable(options.out)
    given = wanted(options.metric, {name: getattr(options, name) for name in OPTIONS}, options.study)
    candidates, *references = (
        pictures(paths, options.out) for paths in (options.candidates, options.to) if paths
    )
    sets = Sets(candidates, *references)
    sets.require_any({})
    folder = workplace(options.out, sets, given)
    how = Search(device=options.device, memory=options.memory)
    finder = Finder(sets, given, how, options.cores, folder)
    logging.getLogger("imagenetv2").info("%s", sentence(finder.forecast(), within=not options.to))
    options.out.mkdir(parents=True, exist_ok=True)
    for line in write(options, sets, given, finder.find()):
        print(line)
    shutil.rmtree(folder.parent, ignore_errors=True)
    return 0


def write(options: argparse.Namespace, sets: Sets, wanted: Wanted, found: Found) -> list[str]:
    """Write tables and page; returns what to print."""
    from imagenetv2.analysis.wording import duration
    from imagenetv2.duplicates.nearest.sets import table, unreadable_table

    neighbours = table(found.pairs, sets.names, wanted.metric == "l2")
    neighbours.to_parquet(options.out / "neighbours.parquet", index=False, compression="zstd")
    write_bytes(options.out / "neighbours.csv", neighbours.to_csv(index=False).encode())
    broken = unreadable_table(found.unreadable, sets)
    write_bytes(options.out / "unreadable.csv", broken.to_csv(index=False).encode())
    files = ["neighbours.csv", "neighbours.parquet", "unreadable.csv"]
    facts = summary(sets, wanted, found)
    took = [f"{name} {duration(seconds)}" for name, seconds in found.seconds.items()]
    if options.page:
        from imagenetv2.duplicates.nearest.page import page

        text = page(
            sets, wanted, found, options.page, [*facts, ("time", duration(sum(found.seconds.values())))]
        )
        write_bytes(options.out / "nearest.html", text.encode())
        files.append("nearest.html")
    facts.append(("time", ", ".join(took)))
    width = max(len(label) for label, _ in facts)
    return [*(f"{label:{width}}  {value}" for label, value in facts), f"{options.out}: {', '.join(files)}"]


def summary(sets: Sets, wanted: Wanted, found: Found) -> list[tuple[str, str]]:
    """Counts and times, as labels and values."""
    from imagenetv2.duplicates.cost import percent
    from imagenetv2.duplicates.nearest.sets import nearest_pairs
    from imagenetv2.duplicates.wording import distance

    rows, columns = found.compared
    facts = [("candidates", f"{rows:,}")]
    if sets.references is not None:
        facts.append(("references", f"{columns:,}"))
    if found.unreadable:
        facts.append(("unreadable", f"{len(found.unreadable):,}"))
    share = found.skipped.computed / max(1, found.skipped.pairs)
    # Within one set each pair is there both ways.
    pairs = found.skipped.pairs // (2 if sets.references is None else 1)
    facts += [("pairs", f"{pairs:,}"), ("distances computed", percent(share))]
    if wanted.cutoff is not None:
        kept = nearest_pairs(found.pairs, sets.references is None, len(found.pairs))
        near = int((kept.distance <= wanted.cutoff).sum())
        least = "" if complete(wanted) else " among the nearest"
        facts.append((f"pairs within {distance(wanted.cutoff)}{least}", f"{near:,}"))
    return facts


def complete(wanted: Wanted) -> bool:
    """Whether every pair within the cut-off was looked for, not only those among the k nearest."""
    within = wanted.section.within
    return within is not None and wanted.cutoff is not None and within >= wanted.cutoff


def _distance(text: str) -> float:
    return _number(text, 0.0, "a distance of at least 0")


def _gigabytes(text: str) -> float:
    return _number(text, 0.25, "a number of gigabytes of at least 0.25")


def _number(text: str, least: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return value
