# Tasks, answers, selection frequencies: data/hits, data/assignments, data/frequencies.
# The way to the votes is the longest of all: its rules have priority.


rule generate_tasks:
    input:
        PLAN.inputs("hits"),
    output:
        artifact("hits"),
    log:
        f"logs/hits/{PLAN.versions['hits']}.log",
    priority: 1
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["hits"],
    message:
        "hits: generate Mechanical Turk tasks and their pages"
    shell:
        "imagenetv2 hits --expect {params.version}" " --cores {threads} --log {log}"


rule collect_assignments:
    input:
        PLAN.inputs("assignments"),
        service=service_of("assignments"),
    output:
        artifact("assignments"),
    log:
        f"logs/assignments/{PLAN.versions['assignments']}.log",
    priority: 1
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["assignments"],
        endpoints=endpoints("assignments"),
    message:
        "assignments: publish the tasks and collect what workers answer"
    shell:
        "imagenetv2 assignments --expect {params.version}"
        " {params.endpoints} --cores {threads} --log {log}"


rule aggregate_frequencies:
    input:
        PLAN.inputs("frequencies"),
    output:
        artifact("frequencies"),
    log:
        f"logs/frequencies/{PLAN.versions['frequencies']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["frequencies"],
    message:
        "frequencies: aggregate answers into selection frequencies"
    shell:
        "imagenetv2 frequencies --expect {params.version}"
        " --cores {threads} --log {log}"
