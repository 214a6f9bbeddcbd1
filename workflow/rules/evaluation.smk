# Models, their predictions on the original and the new sets, and metrics: data/models, data/predictions, data/metrics.
# One job trains all models, and one evaluates them all on a set, so that libraries and images are loaded once;
# what is there whole is left alone, so that a new model does not run the others again. For a cluster,
# evaluation.separate makes it one job for each model and set.
from imagenetv2.evaluation.jobs import jobs


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
        gpu=gpu(PLAN.config.evaluation.device),
    params:
        versions=[PLAN.versions[stage] for stage in PLAN.family("models")],
    message:
        "models: train, or load and name, every model"
    shell:
        "imagenetv2 models --expect {params.versions} --cores {threads} --log {log}"


for JOB in jobs(PLAN):

    rule:
        name:
            JOB.name
        input:
            PLAN.inputs(*JOB.stages),
        output:
            [artifact(stage) for stage in JOB.stages],
        log:
            f"logs/predictions/{'.'.join(filter(None, [JOB.member, JOB.model]))}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=gpu(PLAN.config.evaluation.device),
        params:
            versions=[PLAN.versions[stage] for stage in JOB.stages],
            member=JOB.member,
            models=f"--model {JOB.model}" if JOB.model else "",
            who=JOB.model or "every model",
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
