# Re-makes a benchmark's test set the way it was made, and measures what that does to models.
# Each file below holds the rules of one stage; every rule runs one subcommand of `imagenetv2`.
from snakemake.utils import min_version

min_version("9.10")


configfile: "config/config.yaml"


include: "workflow/rules/plan.smk"


if PLAN.config.record.path is None:

    include: "workflow/rules/benchmark.smk"
    include: "workflow/rules/world.smk"
    include: "workflow/rules/candidates.smk"
    include: "workflow/rules/annotation.smk"
    include: "workflow/rules/duplicates.smk"
    include: "workflow/rules/sampling.smk"
    include: "workflow/rules/evaluation.smk"

else:

    include: "workflow/rules/record.smk"


include: "workflow/rules/analysis.smk"
include: "workflow/rules/latest.smk"


report: "workflow/report/workflow.rst"


localrules:
    all,


rule all:
    default_target: True
    input:
        [PLAN.files(stage) for stage in PLAN.stages],
        "data/latest/versions.json",
    message:
        "Done: open data/latest/report/report.html"
