"""``imagenetv2 cutoffs LABELS.csv``: what each near-duplicate metric finds of a labelled set, at any cut-off."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.commands.options import available, in_options, require_writable, whole
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.errors import InputError

if TYPE_CHECKING:
    from imagenetv2.duplicates.nearest.options import Wanted

OPTIONS = ("side", "window", "network", "layer", "preprocessing", "input", "weights")
"""Settings of metrics."""
OFFLINE = {"network": "efficientnet_lite0", "preprocessing": "standard"}
"""The network whose weights are always there."""


def add(commands: Any) -> None:
    """Declare ``cutoffs``."""
    parser = commands.add_parser(
        "cutoffs",
        help="measure what near-duplicate metrics find of a labelled set, at any cut-off",
        description="Precision, recall and reviewing load of each near-duplicate metric, and of all together, on "
        "images of which you say which are near-duplicates: at the study's cut-offs or yours, at the best, and for each "
        "kind of copy. LABELS.csv has the columns image and group (images of a group are near-duplicates, all others "
        "are not; an image with an empty group is like no other), or image, other and duplicate (1 or 0); and may have kind and strength, which say how a copy came "
        "about (in a table of groups originals have none).",
    )
    parser.add_argument("labels", type=Path, metavar="LABELS.csv", help="the labelled images or pairs")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="where the images lie (default: beside LABELS.csv)"
    )
    parser.add_argument(
        "--metrics",
        type=_metrics,
        default=tuple(METRICS),
        metavar="M,…",
        help="of l2, fc7, ssim (default: all)",
    )
    _add_settings(parser)
    _add_judgement(parser)
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="where distances are computed"
    )
    parser.add_argument("--cores", type=whole(1), default=available(), metavar="N", help="threads")
    parser.add_argument(
        "--out", type=Path, default=Path("cutoffs"), metavar="DIR",
        help="folder of the results (default: cutoffs)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def _add_judgement(parser: argparse.ArgumentParser) -> None:
    """At which cut-offs it is judged."""
    parser.add_argument(
        "--cutoff", type=_cutoff, action="append", default=[], metavar="METRIC=D",
        help="a pair is found at or below this distance; may be repeated (default: the study's, where the settings "
        "are the study's: l2=1.2e8, fc7=1.32e4, ssim=0.2205)",
    )  # fmt: skip
    parser.add_argument(
        "--precision", type=_share, default=0.95, metavar="P",
        help="also report the largest cut-off with at least this precision (default: 0.95)",
    )  # fmt: skip


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--side", type=whole(2), metavar="N", help="images are squashed to N × N pixels (default: 256)"
    )
    parser.add_argument(
        "--window", type=whole(3), metavar="N", help="ssim: side of the window, odd (default: 35)"
    )
    parser.add_argument(
        "--network", metavar="NAME",
        help="fc7: efficientnet_lite0, vgg16, timm:NAME or torchvision:NAME (default: efficientnet_lite0, whose "
        "weights come with this program; vgg16, the study's, where --weights is given)",
    )  # fmt: skip
    parser.add_argument("--weights", type=Path, metavar="FILE", help="fc7: file of the network's weights")
    parser.add_argument("--layer", metavar="NAME", help="fc7: the module whose output is compared")
    parser.add_argument(
        "--preprocessing", choices=("standard", "paper"),
        help="fc7: paper feeds vgg16 raw values, as the study did (default: paper for vgg16, else standard)",
    )  # fmt: skip
    parser.add_argument(
        "--input", type=whole(32), metavar="N", help="fc7: input side of the network (default: 224)"
    )


@in_options
def run(options: argparse.Namespace) -> int:
    """Measure, print the tables and write the files."""
    compared = chosen(options)
    require_writable(options.out)
    from imagenetv2.duplicates import device
    from imagenetv2.duplicates.labelled.evaluation import evaluate
    from imagenetv2.duplicates.labelled.measured import Resources

    folder = options.folder or options.labels.parent
    resources = Resources(device.chosen(options.device), options.cores)
    found = evaluate(options.labels, folder, compared, resources, options.precision)
    for name, reason in found.unreadable.items():
        logging.getLogger("imagenetv2").warning("left out: %s: %s", name, reason)
    print(found.printed())
    for path in found.write(options.out):
        print(path)
    return 0


def chosen(options: argparse.Namespace) -> list[Wanted]:
    """What is compared, with the cut-offs: options lie over the study's settings.

    Raises InputError for an option that belongs to no metric that is compared.
    """
    from dataclasses import replace

    from imagenetv2.duplicates.nearest.options import has, wanted

    _refuse_idle(options)
    given = {name: getattr(options, name) for name in OPTIONS}
    if given["network"] is None and given["weights"] is None:
        given |= {name: given[name] or value for name, value in OFFLINE.items()}
    elif given["network"] not in (None, "vgg16", "torchvision:vgg16"):
        given["preprocessing"] = given["preprocessing"] or "standard"
    cutoffs = dict(options.cutoff)
    found = []
    for metric in options.metrics:
        one = wanted(metric, {n: v for n, v in given.items() if has(metric, n)}, study=True)
        found.append(replace(one, cutoff=cutoffs.get(metric, one.cutoff)))
    return found


def _refuse_idle(options: argparse.Namespace) -> None:
    from imagenetv2.duplicates.nearest.options import has

    for metric, _ in options.cutoff:
        if metric not in options.metrics:
            raise InputError(
                f"--cutoff {metric}: {metric} is not among --metrics; add it there, or leave this out."
            )
    for name in OPTIONS:
        if getattr(options, name) is not None and not any(has(metric, name) for metric in options.metrics):
            raise InputError(
                f"--{name} has no meaning for --metrics {','.join(options.metrics)}; leave it out."
            )


def _metrics(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"{name!r} is no metric; there are {', '.join(METRICS)}")
    return names


def _cutoff(text: str) -> tuple[str, float]:
    metric, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if metric not in METRICS or not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not METRIC=DISTANCE, such as l2=1.2e8")
    return metric, number


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share above 0 and up to 1")
    return value
