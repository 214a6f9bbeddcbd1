# The embedded world: data/world, and its servers on loopback, which run as long as a stage needs them.
# Each stage gets a server of its own; it counts no core, so that the pipeline runs on a single one.
PARTS = {"search": "flickr", "candidates": "photos", "assignments": "mturk,host,people"}

if PLAN.config.world.source != "real":

    rule make_world:
        input:
            PLAN.inputs("world"),
        output:
            artifact("world"),
        log:
            f"logs/world/{PLAN.versions['world']}.log",
        priority: 1
        conda:
            "../envs/imagenetv2.yaml"
        threads: 2
        params:
            version=PLAN.versions["world"],
        message:
            "world: photographs, votes and truth of the embedded world"
        shell:
            "imagenetv2 world make --expect {params.version}"
            " --cores {threads} --log {log}"

    rule serve_world:
        input:
            PLAN.manifest("world"),
        output:
            service("data/.services/{stage}.json"),
        log:
            "logs/services/{stage}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: 0
        params:
            parts=lambda wildcards: PARTS[wildcards.stage],
        message:
            "local servers for {wildcards.stage}: {params.parts}"
        shell:
            "exec imagenetv2 world serve --ready {output} --parts {params.parts}"
            " --log {log}"
