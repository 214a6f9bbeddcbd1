# The candidate pool: data/search and data/candidates.


rule search_flickr:
    input:
        PLAN.inputs("search"),
        service=service_of("search"),
    output:
        artifact("search"),
    log:
        f"logs/search/{PLAN.versions['search']}.log",
    priority: 1
    conda:
        "../envs/imagenetv2.yaml"
    params:
        version=PLAN.versions["search"],
        endpoints=endpoints("search"),
    message:
        "search: query Flickr for every class"
    shell:
        "imagenetv2 search --expect {params.version}"
        " {params.endpoints} --cores {threads} --log {log}"


rule download_candidates:
    input:
        PLAN.inputs("candidates"),
        service=service_of("candidates"),
    output:
        artifact("candidates"),
    log:
        f"logs/candidates/{PLAN.versions['candidates']}.log",
    priority: 1
    conda:
        "../envs/imagenetv2.yaml"
    threads: 2
    params:
        version=PLAN.versions["candidates"],
        endpoints=endpoints("candidates"),
    message:
        "candidates: download and decode what the search found"
    shell:
        "imagenetv2 candidates --expect {params.version}"
        " {params.endpoints} --cores {threads} --log {log}"
