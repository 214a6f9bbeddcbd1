# Models, their predictions on the original and the new sets, and metrics: data/models, data/predictions, data/metrics.
# One job trains all models, and one evaluates them all on a set, so that libraries and images are loaded once;
# what is there whole is left alone, so that a new model does not run the others again. For a cluster,
# evaluation.separate makes it one job for each model and set.
from imagenetv2.evaluation.stages import SETS

# GPUs that a job takes, for Snakemake to count; where there is none, jobs may run side by side.
GPUS = int(
    PLAN.config.evaluation.device != "cpu"
    and (workflow.remote_exec or any(Path("/dev").glob("nvidia[0-9]*")))
)


rule prepare_models:
    input:
        PLAN.inputs(*PLAN.family("models")),
    output:
        [artifact(stage) for stage in PLAN.family("models")],
    log:
        "logs/models.log",
    conda:
        "../envs/imagenetv2.yaml"
    threads: max(1, workflow.cores // 2)
    resources:
        gpu=GPUS,
    params:
        versions=[PLAN.versions[stage] for stage in PLAN.family("models")],
    message:
        "models: train, or load and name, every model"
    shell:
        "imagenetv2 models --expect {params.versions} --cores {threads} --log {log}"


# Name of a rule, set, models, and what the message calls them.
EVALUATIONS = (
    [
        (f"evaluate_{SET}_{N}", SET, [MODEL.name], MODEL.name)
        for SET in SETS
        for N, MODEL in enumerate(PLAN.config.models)
    ]
    if PLAN.config.evaluation.separate
    else [(f"evaluate_{SET}", SET, [], "every model") for SET in SETS]
)


def evaluated(SET, MODELS):
    family = PLAN.family(f"predictions/{SET}")
    return [name for name in family if not MODELS or name.rsplit("/", 1)[1] in MODELS]


for NAME, SET, MODELS, WHO in EVALUATIONS:

    rule:
        name:
            NAME
        input:
            PLAN.inputs(*evaluated(SET, MODELS)),
        output:
            [artifact(stage) for stage in evaluated(SET, MODELS)],
        log:
            f"logs/predictions/{'.'.join([SET, *MODELS])}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=GPUS,
        params:
            versions=[PLAN.versions[stage] for stage in evaluated(SET, MODELS)],
            member=SET,
            models=[f"--model {model}" for model in MODELS],
            who=WHO,
        message:
            "predictions/{params.member}: {params.who} on this set"
        shell:
            "imagenetv2 predictions {params.member} {params.models} --expect {params.versions} --cores {threads} --log {log}"


# Cheap, and apart from the rule above: a changed metric needs no model again.
rule measure_predictions:
    input:
        PLAN.inputs("metrics"),
    output:
        artifact("metrics"),
    log:
        f"logs/metrics/{PLAN.versions['metrics']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["metrics"],
    message:
        "metrics: calibration and others, of every model on every set"
    shell:
        "imagenetv2 metrics --expect {params.version} --log {log}"
