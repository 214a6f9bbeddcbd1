# Near-duplicates under each metric, and what is kept: data/neighbours, data/reviews/pairs, data/duplicates.


# With neighbours.search.parts above 1 a search is divided into jobs. Their outputs only say that a part is done; what
# they found lies beside them, for the job that writes the artifact.
DIVIDED = PLAN.config.neighbours.search.parts > 1


for MEMBER in PLAN.family("neighbours") if DIVIDED else ():

    rule:
        name:
            f"prepare_search_{Path(MEMBER).name}"
        input:
            PLAN.inputs(MEMBER),
        output:
            temp(search_part(MEMBER, 0)),
        log:
            f"logs/{MEMBER}/{PLAN.versions[MEMBER]}.part-0.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=gpu(PLAN.config.neighbours.search.device),
        params:
            version=PLAN.versions[MEMBER],
            member=Path(MEMBER).name,
        message:
            "neighbours/{params.member}: what is compared"
        shell:
            "imagenetv2 neighbours {params.member} --part 0 --expect {params.version}"
            " --cores {threads} --log {log}"

    rule:
        name:
            f"search_part_{Path(MEMBER).name}"
        input:
            PLAN.inputs(MEMBER),
            search_part(MEMBER, 0),
        output:
            temp(search_part(MEMBER, "{part}")),
        log:
            f"logs/{MEMBER}/{PLAN.versions[MEMBER]}.part-{{part}}.log",
        wildcard_constraints:
            part="[1-9][0-9]*",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=gpu(PLAN.config.neighbours.search.device),
        params:
            version=PLAN.versions[MEMBER],
            member=Path(MEMBER).name,
        message:
            "neighbours/{params.member}: part {wildcards.part} of the search"
        shell:
            "imagenetv2 neighbours {params.member} --part {wildcards.part}"
            " --expect {params.version} --cores {threads} --log {log}"


for MEMBER in PLAN.family("neighbours"):

    rule:
        name:
            f"find_neighbours_{Path(MEMBER).name}"
        input:
            PLAN.inputs(MEMBER),
            search_parts(MEMBER) if DIVIDED else [],
        output:
            artifact(MEMBER),
        log:
            f"logs/{MEMBER}/{PLAN.versions[MEMBER]}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: max(1, workflow.cores // 2)
        resources:
            gpu=0 if DIVIDED else gpu(PLAN.config.neighbours.search.device),
        params:
            version=PLAN.versions[MEMBER],
            member=Path(MEMBER).name,
        message:
            "neighbours/{params.member}: nearest reference images and candidates of each candidate"
        shell:
            "imagenetv2 neighbours {params.member} --expect {params.version}"
            " --cores {threads} --log {log}"


rule review_pairs:
    input:
        PLAN.inputs("reviews/pairs"),
    output:
        artifact("reviews/pairs"),
    log:
        f"logs/reviews/pairs/{PLAN.versions['reviews/pairs']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["reviews/pairs"],
    message:
        "reviews/pairs: verdicts on near-duplicate pairs"
    shell:
        "imagenetv2 reviews pairs --expect {params.version}"
        " --cores {threads} --log {log}"


rule resolve_duplicates:
    input:
        PLAN.inputs("duplicates"),
    output:
        artifact("duplicates"),
    log:
        f"logs/duplicates/{PLAN.versions['duplicates']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["duplicates"],
    message:
        "duplicates: connected components, and the image that each keeps"
    shell:
        "imagenetv2 duplicates --expect {params.version}"
        " --cores {threads} --log {log}"
