# The record of a released study, part by part: data/record/<part>, read instead of being run.


for PART in PLAN.family("record"):

    rule:
        name:
            f"record_{Path(PART).name}"
        input:
            PLAN.inputs(PART),
        output:
            artifact(PART),
        log:
            f"logs/{PART}/{PLAN.versions[PART]}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: 1
        params:
            version=PLAN.versions[PART],
            part=Path(PART).name,
        message:
            "record/{params.part}: read from the released record"
        shell:
            "imagenetv2 record {params.part} --expect {params.version}"
            " --cores {threads} --log {log}"
