# Models, and their predictions on the original and the new sets: data/models, data/predictions.
# One job trains all models, and one evaluates them all on a set, so that libraries and images are loaded once;
# what is there whole is left alone, so that a new model does not run the others again.
from imagenetv2.evaluation.stages import SETS


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
        gpu=1,
    params:
        versions=[PLAN.versions[stage] for stage in PLAN.family("models")],
    message:
        "models: train, or load and name, every model"
    shell:
        "imagenetv2 models --expect {params.versions} --cores {threads} --log {log}"


for SET in SETS:

    rule:
        name:
            f"evaluate_{SET}"
        input:
            PLAN.inputs(*PLAN.family(f"predictions/{SET}")),
        output:
            [artifact(stage) for stage in PLAN.family(f"predictions/{SET}")],
        log:
            f"logs/predictions/{SET}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=1,
        params:
            versions=[
                PLAN.versions[stage] for stage in PLAN.family(f"predictions/{SET}")
            ],
            member=SET,
        message:
            "predictions/{params.member}: every model on this set"
        shell:
            "imagenetv2 predictions {params.member} --expect {params.versions} --cores {threads} --log {log}"
