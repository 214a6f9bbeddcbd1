# data/latest: links to what the last complete run made.
from imagenetv2 import latest

# A link can be lost without Snakemake's notice; without versions.json, which is then not true, it makes all again.
if not latest.is_sound(DATA):
    Path("data/latest/versions.json").unlink(missing_ok=True)


rule point_latest:
    input:
        [PLAN.manifest(stage) for stage in PLAN.stages],
    output:
        "data/latest/versions.json",
    log:
        "logs/latest.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        versions=sorted(PLAN.versions.items()),
        configuration=merged.name,
    message:
        "data/latest points at this run"
    shell:
        "imagenetv2 versions point 2> {log}"
