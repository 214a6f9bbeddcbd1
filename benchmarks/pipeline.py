"""Time the whole pipeline in a fresh copy of this checkout: from nothing, unchanged, one value changed, and back.

python benchmarks/pipeline.py [--cores N] [--configfile FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"from nothing": 300, "nothing changed": 5, "threshold changed": 60}


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--configfile", type=Path)
    parser.add_argument("--keep", action="store_true", help="keep the copy and print where it is")
    options = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} processors, {options.cores} cores used, Python {platform.python_version()}"
    )
    work = Path(tempfile.mkdtemp(prefix="imagenetv2-"))
    try:
        copy_checkout(work)
        overlay = [str(options.configfile.resolve())] if options.configfile else []
        changed = work / "changed.yaml"
        changed.write_text("sampling: {threshold: {frequency: 0.8}}\n")
        times = {
            "from nothing": run(work, options.cores, overlay),
            "nothing changed": run(work, options.cores, overlay),
            "threshold changed": run(work, options.cores, [*overlay, str(changed)]),
            "and back": run(work, options.cores, overlay),
        }
        for name, seconds in times.items():
            limit = f"  (at most {LIMITS[name]})" if name in LIMITS and not overlay else ""
            print(f"{name:18} {seconds:7.1f} s{limit}")
        print_stages(work)
    finally:
        if options.keep:
            print(f"kept: {work}")
        else:
            shutil.rmtree(work)


def copy_checkout(target: Path) -> None:
    """Copy what git tracks, as it is in the working tree."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(
        b"\0"
    )
    for name in filter(None, names):
        source = ROOT / os.fsdecode(name)
        if source.is_file():
            (target / os.fsdecode(name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / os.fsdecode(name))


def run(work: Path, cores: int, overlay: list[str]) -> float:
    """Seconds that one `snakemake` takes."""
    command = [str(Path(sys.executable).parent / "snakemake"), "--cores", str(cores)]
    command += ["--configfile", *overlay] if overlay else []
    start = time.perf_counter()
    # The copy's own code: the checkout may be edited while this runs.
    environment = {**os.environ, "PYTHONPATH": str(work / "src")}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def print_stages(work: Path) -> None:
    """Seconds of each stage of the last run, longest first."""
    seconds = {}
    for path in sorted((work / "data").rglob("run.json")):
        stage = path.parent.parent.relative_to(work / "data").as_posix()
        seconds[stage] = max(seconds.get(stage, 0.0), float(json.loads(path.read_text())["seconds"]))
    for stage, value in sorted(seconds.items(), key=lambda item: -item[1])[:20]:
        print(f"  {stage:40} {value:7.1f} s")


if __name__ == "__main__":
    main()
