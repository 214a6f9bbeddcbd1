# The three sampling rules, each reviewed until nobody objects: data/reviews/<rule>, data/datasets/<rule>.


for RULE in PLAN.family("datasets"):

    rule:
        name:
            f"review_{Path(RULE).name}"
        input:
            PLAN.inputs(f"reviews/{Path(RULE).name}"),
        output:
            artifact(f"reviews/{Path(RULE).name}"),
        log:
            f"logs/reviews/{Path(RULE).name}/{PLAN.versions[f'reviews/{Path(RULE).name}']}.log",
        conda:
            "../envs/imagenetv2.yaml"
        params:
            version=PLAN.versions[f"reviews/{Path(RULE).name}"],
            member=Path(RULE).name,
        message:
            "reviews/{params.member}: sample and review until nobody objects"
        shell:
            "imagenetv2 reviews {params.member} --expect {params.version}"
            " --cores {threads} --log {log}"


for MEMBER in PLAN.family("datasets"):

    rule:
        name:
            f"sample_{Path(MEMBER).name}"
        input:
            PLAN.inputs(MEMBER),
        output:
            artifact(MEMBER),
        log:
            f"logs/{MEMBER}/{PLAN.versions[MEMBER]}.log",
        conda:
            "../envs/imagenetv2.yaml"
        threads: 1
        params:
            version=PLAN.versions[MEMBER],
            member=Path(MEMBER).name,
        message:
            "datasets/{params.member}: the reviewed set, frozen"
        shell:
            "imagenetv2 datasets {params.member} --expect {params.version}"
            " --cores {threads} --log {log}"
