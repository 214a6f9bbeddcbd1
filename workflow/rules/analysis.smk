# Tables, fits and the report: data/analysis and data/report.


rule analyse_predictions:
    input:
        PLAN.inputs("analysis"),
    output:
        artifact("analysis", shown=("accuracies.csv", "rules.csv")),
    log:
        f"logs/analysis/{PLAN.versions['analysis']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["analysis"],
    message:
        "analysis: accuracies, changes, fits, funnel"
    shell:
        "imagenetv2 analysis --expect {params.version}" " --cores {threads} --log {log}"


rule write_report:
    input:
        PLAN.inputs("report"),
    output:
        artifact("report", shown=("accuracy.png", "frequencies.png", "report.html")),
    log:
        f"logs/report/{PLAN.versions['report']}.log",
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["report"],
    message:
        "report: one page, readable offline"
    shell:
        "imagenetv2 report --expect {params.version}" " --cores {threads} --log {log}"
