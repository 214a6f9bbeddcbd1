# Models, and their predictions on the original and the new sets: data/models, data/predictions.
# One job trains all models, and one evaluates them all on a set, so that libraries and images are loaded once;
# what is there whole is left alone, so that a new model does not run the others again.
from imagenetv2.evaluation.stages import SETS


def reads_of(family):
    return sorted(
        {path for stage in PLAN.family(family) for path in PLAN.inputs(stage)}
    )


def versions_of(family):
    return [PLAN.versions[stage] for stage in PLAN.family(family)]


rule prepare_models:
    input:
        reads_of("models"),
    output:
        [artifact(stage) for stage in PLAN.family("models")],
    log:
        "logs/models.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        versions=versions_of("models"),
    message:
        "models: train, or load and name, every model"
    shell:
        "imagenetv2 models --cores {threads} --log {log}"


for SET in SETS:

    rule:
        name:
            f"evaluate_{SET}"
        input:
            reads_of(f"predictions/{SET}"),
        output:
            [artifact(stage) for stage in PLAN.family(f"predictions/{SET}")],
        log:
            f"logs/predictions/{SET}.log",
        conda:
            "../envs/imagenetv2.yaml"
        params:
            versions=versions_of(f"predictions/{SET}"),
            member=SET,
        message:
            "predictions/{params.member}: every model on this set"
        shell:
            "imagenetv2 predictions {params.member} --cores {threads} --log {log}"
