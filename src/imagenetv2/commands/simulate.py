"""``imagenetv2 simulate``: the study in the small, without images."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.atomically import write_bytes
from imagenetv2.commands.options import whole
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.loading import lay_over, read_yaml, validate

if TYPE_CHECKING:
    import pandas as pd

FIELDS = ("annotators", "seeds", "originals", "candidates", "sampled")


def add(commands: Any) -> None:
    """Declare ``simulate``."""
    parser = commands.add_parser(
        "simulate",
        help="run the study in the small, without images",
        description="A source of photographs whose selection probability is known, annotators, one fixed classifier, "
        "and the three sampling rules: observed and true selection frequency and change of accuracy, averaged over "
        "seeds. Values of the configuration's section simulation hold where no option says otherwise.",
    )
    parser.add_argument(
        "--config", type=Path, action="append", metavar="FILE", help="configuration; may be repeated"
    )
    parser.add_argument(
        "--annotators",
        type=_list(whole(1)),
        metavar="N,…",
        help="numbers of annotators an image (default: 10,40,200)",
    )
    parser.add_argument("--seeds", type=whole(1), metavar="N", help="studies to average (default: 10)")
    parser.add_argument(
        "--seed", type=whole(0), metavar="N", help="seed of everything random (default: 2019)"
    )
    parser.add_argument("--originals", type=whole(1), metavar="N", help="photographs the originals come from")
    parser.add_argument("--candidates", type=whole(1), metavar="N", help="new photographs")
    parser.add_argument("--sampled", type=whole(1), metavar="N", help="photographs of a sampled set")
    parser.add_argument(
        "--scan", action="store_true", help="also draw the bias of each rule against the number of annotators"
    )
    parser.add_argument(
        "--thresholds", type=_list(_share), metavar="F,…", help="scan: lowest frequencies for Threshold"
    )
    parser.add_argument(
        "--pool",
        type=_list(_share),
        metavar="F,…",
        help="scan: shares of the candidates that passed the same vote as the originals",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="write simulation.csv and, with --scan, scan.csv and scan.svg, .png, .pdf "
        "(default: nowhere; with --scan the folder simulation)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table or tables, and write files."""
    if not options.scan and (options.thresholds or options.pool):
        raise InputError("--thresholds and --pool vary the scan; add --scan.")
    config, cores = _config(options), os.cpu_count() or 1
    from imagenetv2.simulation.simulation import ANNOTATORS, scan, table

    found = table(config.simulation, config.seed, cores)
    print(_table(found, config.simulation.threshold))
    files = {"simulation.csv": found.to_csv(index=False).encode()}
    if options.scan:
        scanned = scan(
            config.simulation,
            config.seed,
            sorted(set(options.annotators or ANNOTATORS)),
            options.thresholds,
            options.pool,
            cores,
        )
        print(_scan(scanned))
        files |= {"scan.csv": scanned.to_csv(index=False).encode(), **_drawn(scanned)}
    out = options.out or (Path("simulation") if options.scan else None)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_bytes(out / name, content)
            print(out / name)
    return 0


def _config(options: argparse.Namespace) -> Config:
    """The configuration with the options laid over it."""
    values: dict[str, Any] = {}
    for file in options.config or ():
        values = lay_over(values, read_yaml(file))
    given = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    over: dict[str, Any] = {"simulation": given} if given else {}
    if options.seed is not None:
        over["seed"] = options.seed
    return validate(lay_over(values, over), options.config or ())


def _drawn(scanned: pd.DataFrame) -> dict[str, bytes]:
    """The figure as SVG, PNG and PDF, by file name."""
    from imagenetv2.analysis.figures import renderer
    from imagenetv2.analysis.figures.figure import for_paper
    from imagenetv2.analysis.figures.style import FONT, on_paper
    from imagenetv2.simulation.figure import scan_figure

    figure = scan_figure(scanned)
    return renderer.chart(figure.name, on_paper(json.dumps(for_paper(figure, FONT))))


def _table(found: pd.DataFrame, limit: float) -> str:
    """One row a rule and number of annotators; changes in percentage points with their deviation over seeds."""
    from imagenetv2.simulation.simulation import label

    lines = [
        f"{'':29}selection frequency             accuracy",
        f"{'':29}observed        true            original  change, points",
        f"{'rule':17}{'annotators':>10}  {'new   original  new   original':32}{'':10}{'drawn':13}expected",
    ]
    for row in found.to_dict("records"):
        frequencies = "".join(
            f"{row[name]:<6.2f}{row[f'{name}_original']:<10.2f}" for name in ("observed", "true")
        )
        change = f"{100 * row['change']:+.1f}"
        if row["seeds"] > 1:
            change += f" ± {100 * row['change_deviation']:.1f}"
        lines.append(
            f"{label(row['rule'], limit):17}{row['annotators']:>10}  {frequencies}{row['accuracy_original']:<10.1%}"
            f"{change:13}{100 * row['expected_change']:+.1f}"
        )
    return "\n".join(lines)


def _scan(scanned: pd.DataFrame) -> str:
    """One row a quality and number of annotators, one column a rule: bias of true frequency and of accuracy."""
    from imagenetv2.simulation.simulation import label

    lines = ["", "Bias: true selection frequency, new less original / expected change of accuracy, points"]
    for quality, part in scanned.groupby("quality"):
        rows: dict[int, dict[str, str]] = {}
        for row in part.to_dict("records"):
            cell = f"{row['bias']:+.3f} / {100 * row['expected_change']:+.1f}"
            rows.setdefault(row["annotators"], {})[label(row["rule"], row["threshold"])] = (
                cell if row["bias"] == row["bias"] else "too few"
            )
        lines += ["", f"{quality:.0%} of the candidates passed the same vote as the originals"]
        lines.append("annotators" + "".join(f"{name:>19}" for name in next(iter(rows.values()))))
        lines += [f"{k:>10}" + "".join(f"{cell:>19}" for cell in cells.values()) for k, cells in rows.items()]
    return "\n".join(lines)


def _list(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """An argument type: values between commas."""

    def read(text: str) -> list[Any]:
        return [kind(part.strip()) for part in text.split(",")]

    return read


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share between 0 and 1")
    return value
