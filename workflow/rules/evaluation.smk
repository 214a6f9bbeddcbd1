# Models, and their predictions on the original and the new sets: data/models, data/predictions.
# One job evaluates all models on a set, so that libraries and images are loaded once.
from imagenetv2.evaluation.stages import SETS

for MEMBER in PLAN.family("models"):

    rule:
        name:
            f"prepare_model_{Path(MEMBER).name}"
        input:
            PLAN.inputs(MEMBER),
        output:
            artifact(MEMBER),
        log:
            f"logs/{MEMBER}/{PLAN.versions[MEMBER]}.log",
        conda:
            "imagenetv2"
        threads: 1
        params:
            version=PLAN.versions[MEMBER],
            member=Path(MEMBER).name,
        message:
            "models/{params.member}: train, or name, the model"
        shell:
            "imagenetv2 models {params.member} --expect {params.version}"
            " --cores {threads} --log {log}"


for SET in SETS:

    rule:
        name:
            f"evaluate_{SET}"
        input:
            sorted(
                {
                    path
                    for stage in PLAN.family(f"predictions/{SET}")
                    for path in PLAN.inputs(stage)
                }
            ),
        output:
            [artifact(stage) for stage in PLAN.family(f"predictions/{SET}")],
        log:
            f"logs/predictions/{SET}.log",
        conda:
            "imagenetv2"
        params:
            versions=[
                PLAN.versions[stage] for stage in PLAN.family(f"predictions/{SET}")
            ],
            member=SET,
        message:
            "predictions/{params.member}: every model on this set"
        shell:
            "imagenetv2 predictions {params.member} --cores {threads} --log {log}"
