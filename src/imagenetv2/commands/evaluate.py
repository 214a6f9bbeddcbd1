"""``imagenetv2 evaluate``: from models and test sets to accuracies, intervals and a plot, without a configuration."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.commands.options import available, require_writable, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from imagenetv2.evaluation.scorecard.wanted import Wanted

CODES = """exit codes: 0: all is well; 1: an error, or a model has no result; 3: a result is not comparable with published
numbers (classes or images are missing, or a fast mode), with the reason"""


def add(commands: Any) -> None:
    """Declare ``evaluate``."""
    parser = commands.add_parser(
        "evaluate",
        help="your model's accuracy on ImageNet and ImageNetV2, and its distance from the line",
        description="Accuracy of models on ImageNet's validation set and on new test sets, with intervals, the drop, "
        "what the study's line expects, and effective robustness. Writes results.csv, results.json, plot.svg, plot.png, "
        "index.html and predictions/; what is there already is not computed again.",
        epilog=CODES,
    )
    _add_what(parser)
    _add_how(parser)
    parser.set_defaults(run=run)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models", nargs="+", action="extend", required=True, metavar="M",
        help="timm:NAME, torchvision:NAME.WEIGHTS, patterns such as 'timm:resnet*', timm:NAME=FILE for weights of yours, "
        "onnx:FILE, python:package.module:function, preset:published, @FILE of names",
    )  # fmt: skip
    parser.add_argument(
        "--val", type=Path, metavar="DIR", help="ImageNet's validation set: folder, archive or Parquet"
    )
    parser.add_argument(
        "--v2",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="DIR",
        help="new test sets, compared with --val",
    )
    parser.add_argument(
        "--also",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="DIR",
        help="sets that are only measured",
    )
    parser.add_argument(
        "--devkit",
        type=Path,
        metavar="DIR",
        help="ImageNet's development kit, for a flat folder of validation images",
    )
    parser.add_argument(
        "--partial", action="store_true", help="open sets that lack classes or images; exits with 3"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("evaluation"),
        metavar="DIR",
        help="folder to write (default: evaluation)",
    )
    parser.add_argument("--logits", action="store_true", help="keep all outputs of every image, as float16")
    parser.add_argument("--dry-run", action="store_true", help="say what would be computed and what it takes")


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="auto: all GPUs there are, else the CPU",
    )
    parser.add_argument(
        "--mode", choices=("reference", "bf16", "fp16"), default="reference",
        help="reference: float32, deterministic, for tables; bf16, fp16: faster, compared with reference on a sample",
    )  # fmt: skip
    parser.add_argument("--compile", action="store_true", help="compile networks; not in mode reference")
    parser.add_argument(
        "--batch", type=whole(1), default=128, metavar="N", help="images a pass on a GPU (default: 128)"
    )
    parser.add_argument(
        "--memory", type=_gigabytes, default=2.0, metavar="GB", help="memory for prepared images (default: 2)"
    )
    parser.add_argument(
        "--cores", type=whole(1), default=available(), metavar="N", help="threads (default: all there are)"
    )


def run(options: argparse.Namespace) -> int:
    """Evaluate, print the tables, and say in the exit code whether all is comparable."""
    from imagenetv2.errors import InputError

    if options.compile and options.mode == "reference":
        raise InputError("--compile is of the fast modes; add --mode bf16, or leave it out.")
    require_writable(options.out)
    wanted = _wanted(options)
    return _forecast(wanted) if options.dry_run else _evaluate(wanted)


def _forecast(wanted: Wanted) -> int:
    from imagenetv2.evaluation.scorecard import card, forecast

    plan = card.plan(wanted, unpack=False)
    print("\n".join(forecast.lines(plan, wanted)))
    _complain(plan.failed)
    return card.FAILED if plan.failed else 0


def _evaluate(wanted: Wanted) -> int:
    from imagenetv2.evaluation.scorecard import card, hidden, sets, terminal

    sets.named(wanted)
    with hidden.held(wanted.out):
        plan = card.plan(wanted)
        _complain(plan.failed)
        found = card.fill(plan, wanted, logging.getLogger("imagenetv2"))
        # Earlier results are not replaced by none at all. Drawing is not needed before, and slow to import.
        if found.rows:
            from imagenetv2.evaluation.scorecard import files

            names = files.write(wanted, found)
    if found.rows:
        said = [*terminal.tables(found.rows, found.sets), *terminal.words(found.rows, found.sets)]
        said += terminal.fast(found.rows)
        print("\n".join([*said, "", f"{wanted.out}: {', '.join([*names, 'predictions/'])}"]))
    for name, reason in sorted(found.failed.items()):
        if name not in plan.failed:
            logging.getLogger("imagenetv2").error("%s has no result, or not all: %s", name, reason)
    return found.code


def _complain(failed: Mapping[str, str]) -> None:
    for _, reason in sorted(failed.items()):
        logging.getLogger("imagenetv2").error("%s", reason)


def _wanted(options: argparse.Namespace) -> Wanted:
    from imagenetv2.evaluation.scorecard.wanted import Wanted

    return Wanted(
        models=tuple(options.models),
        val=options.val,
        v2=tuple(options.v2),
        also=tuple(options.also),
        devkit=options.devkit,
        out=options.out,
        device=options.device,
        mode=options.mode,
        compile=options.compile,
        batch=options.batch,
        memory=int(options.memory * 1e9),
        cores=options.cores,
        logits=options.logits,
        partial=options.partial,
    )


def _gigabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of gigabytes above 0")
    return value
