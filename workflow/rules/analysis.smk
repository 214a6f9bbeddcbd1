# Tables, fits and the report: data/analysis and data/report.


rule analyse_predictions:
    input:
        PLAN.inputs("analysis"),
    output:
        artifact("analysis"),
    log:
        f"logs/analysis/{PLAN.versions['analysis']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    threads: workflow.cores
    params:
        version=PLAN.versions["analysis"],
    message:
        "analysis: accuracies, changes, lines, tests"
    shell:
        "imagenetv2 analysis --expect {params.version}" " --cores {threads} --log {log}"


# Part of Snakemake's own report; a study without votes, or whose truth nobody knows, has not all of them.
SHOWN = (
    "report.html",
    *(f"{table}.csv" for table in ("accuracies", "groups", "fits", "rules")),
    *(
        f"{figure}.png"
        for figure in (
            "accuracy",
            "accuracy_probit",
            "bins",
            "changes",
            "classes",
            "examples",
            "frequencies",
            "influence",
            "order",
            "paired",
            "robustness",
            "simulation",
            "truth",
        )
    ),
)


rule write_report:
    input:
        PLAN.inputs("report"),
    output:
        artifact("report", shown=SHOWN),
    log:
        f"logs/report/{PLAN.versions['report']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    threads: workflow.cores
    params:
        version=PLAN.versions["report"],
    message:
        "report: one page, readable offline"
    shell:
        "imagenetv2 report --expect {params.version}" " --cores {threads} --log {log}"
