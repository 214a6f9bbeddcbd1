# The merged configuration is written out, validated and planned before anything else: PLAN knows every
# stage's version. Rules depend on manifests, and take values through `params` as that version; the merged file
# itself reaches subcommands through the environment, since its name changes with every value.
import os
import sys
import time
from pathlib import Path

from snakemake.io import report as reported

from imagenetv2.complaints import complaints
from imagenetv2.errors import InputError
from imagenetv2.gpus import gpus
from imagenetv2.lock import hold
from imagenetv2.plan import Plan, in_order

DATA = Path("data")

try:
    PLAN, merged = Plan.merged(config, in_order(workflow.configfiles), DATA)
except InputError as error:
    sys.exit(f"imagenetv2: {error}")

os.environ["IMAGENETV2_CONFIG"] = str(merged)
# Jobs run the subcommands of the environment that Snakemake runs in, activated or not.
os.environ.update(
    PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
)


envvars:
    "IMAGENETV2_CONFIG",


LOCK = []
START = time.time()


onstart:
    try:
        LOCK.append(hold(DATA))
    except InputError as error:
        sys.exit(f"imagenetv2: {error}")


# The last words of a failed run are the sentences that say what to do.
onerror:
    print(*complaints(Path("logs"), START), sep="\n", file=sys.stderr)


# A file is marked update() so that Snakemake neither deletes what is whole nor half restores it: the
# subcommand replaces an artifact in one rename, and leaves a complete one alone. Files that are `shown` are part of
# Snakemake's own report (snakemake --report).
def artifact(stage, shown=()):
    return [
        part_of_report(path) if Path(path).name in shown else update(path)
        for path in PLAN.files(stage)
    ]


def part_of_report(path):
    caption = f"../report/{Path(path).stem}.rst"
    return reported(update(path), caption=caption, category="Results")


def service_of(stage):
    return (
        [] if PLAN.config.world.source == "real" else [f"data/.services/{stage}.json"]
    )


def endpoints(stage):
    return " ".join(f"--endpoints {path}" for path in service_of(stage))


def search_part(member, part):
    work = DATA / "stores" / "work" / member / PLAN.versions[member]
    return str(work / f"part-{part}.{PLAN.config.neighbours.search.parts}.done")


def search_parts(member):
    parts = range(1, PLAN.config.neighbours.search.parts + 1)
    return [search_part(member, part) for part in parts]


# Asked of each job, since Snakemake knows where jobs will run only after it has read the rules.
def gpu(device):
    return lambda wildcards: gpus(
        device, elsewhere=workflow.remote_exec or workflow.non_local_exec
    )
