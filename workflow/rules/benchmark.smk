# The original benchmark: data/classes and data/reference.


rule list_classes:
    input:
        PLAN.inputs("classes"),
    output:
        artifact("classes"),
    log:
        f"logs/classes/{PLAN.versions['classes']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["classes"],
    message:
        "classes: synonyms, definitions and WordNet neighbours"
    shell:
        "imagenetv2 classes --expect {params.version}" " --cores {threads} --log {log}"


rule index_reference:
    input:
        PLAN.inputs("reference"),
    output:
        artifact("reference"),
    log:
        f"logs/reference/{PLAN.versions['reference']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    threads: 2
    params:
        version=PLAN.versions["reference"],
    message:
        "reference: decode and index the original data set"
    shell:
        "imagenetv2 reference --expect {params.version}"
        " --cores {threads} --log {log}"
