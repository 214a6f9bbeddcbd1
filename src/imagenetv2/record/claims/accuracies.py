"""What the paper says of single models: counts, ranges, its table of eight models."""

from __future__ import annotations

from collections.abc import Callable

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.intervals import clopper_pearson
from imagenetv2.record.claims.claim import Claim
from imagenetv2.record.claims.facts import MATCHED, Facts

FISHER = "Fisher vectors"
BEST = "pnasnet_large_tf"
SMALLEST = ("alexnet", "squeezenet1_0", "squeezenet1_1")
"""Networks that the paper sets apart as the weakest."""

TABLE = {
    "pnasnet_large_tf": ("1", "82.9", "82.5", "83.2", "72.2", "71.3", "73.1", "10.7", "3"),
    "nasnetalarge": ("4", "82.5", "82.2", "82.8", "72.2", "71.3", "73.1", "10.3", "1"),
    "resnet152": ("21", "78.3", "77.9", "78.7", "67.0", "66.1", "67.9", "11.3", "21"),
    "inception_v3_tf": ("23", "78.0", "77.6", "78.3", "66.1", "65.1", "67.0", "11.9", "24"),
    "densenet161": ("30", "77.1", "76.8", "77.5", "65.3", "64.4", "66.2", "11.8", "30"),
    "vgg19_bn": ("43", "74.2", "73.8", "74.6", "61.9", "60.9", "62.8", "12.3", "44"),
    "alexnet": ("64", "56.5", "56.1", "57.0", "44.0", "43.0", "45.0", "12.5", "64"),
    "fv_64k": ("65", "35.1", "34.7", "35.5", "24.1", "23.2", "24.9", "11.0", "65"),
}
"""The paper's Table 1, ImageNet: place, accuracy and its interval, on the original and (less the loss) the new set."""


def claims() -> list[Claim]:
    """All of them, in the order of the page."""
    return [*_counts(), *_ranges(), *_best(), *_others(), *_table()]


def _counts() -> list[Claim]:
    where = "models tested"
    return [
        Claim("models/all", where, "Models evaluated on every set", "67", lambda f: len(f.models)),
        Claim("models/networks", where, "Convolutional networks among them", "64", lambda f: len(f.networks)),
        Claim(
            "models/fisher", where, "Fisher-vector models among them", "3", lambda f: len(f.family(FISHER))
        ),
    ]


def _ranges() -> list[Claim]:
    where = "top-1 accuracies, MatchedFrequency"
    return [
        _range("networks/lowest", where, "Lowest original accuracy of a network", "56.5", _networks, min),
        _range("networks/highest", where, "Highest original accuracy of a network", "82.9", _networks, max),
        _loss("networks/smallest-loss", where, "Smallest loss of a network", "10.3", _networks, min),
        _loss("networks/largest-loss", where, "Largest loss of a network", "13.6", _networks, max),
        _range("fisher/lowest", where, "Lowest original accuracy of a Fisher-vector model", "21.2", _fisher, min),
        _range("fisher/highest", where, "Highest original accuracy of a Fisher-vector model", "35.1", _fisher, max),
        _loss("fisher/smallest-loss", where, "Smallest loss of a Fisher-vector model", "6.2", _fisher, min),
        _loss("fisher/largest-loss", where, "Largest loss of a Fisher-vector model", "11.0", _fisher, max),
        _loss("abstract/smallest-loss", "abstract", "Smallest loss on ImageNet", "11%", _networks, min, _below),
        _loss("abstract/largest-loss", "abstract", "Largest loss on ImageNet", "14%", _networks, max),
        Claim(
            "abstract/below",
            "abstract",
            "Networks that lose less than the 11 points at which the range starts",
            "0, by “11% – 14%”",
            lambda f: int((-f.change(MATCHED, f.networks) < 11).sum()),
            _below,
        ),
    ]  # fmt: skip


def _best() -> list[Claim]:
    where = "introduction"
    return [
        Claim("best/model", "Table 1", "Network with the highest original accuracy", BEST, _first),
        Claim("best/top1", where, f"{BEST}: top-1 accuracy, original", "83%", lambda f: f.one(BEST, ORIGINAL)),
        Claim("best/top1-new", where, f"{BEST}: top-1 accuracy, new", "72%", lambda f: f.one(BEST, MATCHED)),
        Claim("best/top5", where, f"{BEST}: top-5 accuracy, original", "96%", lambda f: f.one(BEST, ORIGINAL, 5)),
        Claim("best/top5-new", where, f"{BEST}: top-5 accuracy, new", "90%", lambda f: f.one(BEST, MATCHED, 5)),
        Claim("best/top5-exact", "top-5 accuracies, MatchedFrequency", f"{BEST}: top-5 accuracy, original", "96.2", lambda f: f.one(BEST, ORIGINAL, 5)),
        Claim("best/top5-new-exact", "top-5 accuracies, MatchedFrequency", f"{BEST}: top-5 accuracy, new", "90.1", lambda f: f.one(BEST, MATCHED, 5)),
        Claim("best/top5-loss", where, f"{BEST}: loss of top-5 accuracy", "6%", lambda f: -float(f.change(MATCHED, [BEST], 5)[0])),
    ]  # fmt: skip


def _others() -> list[Claim]:
    return [
        Claim(
            "order/largest",
            "results on the new sets",
            "Largest change of place on MatchedFrequency, among all models",
            "5",
            lambda f: int(f.moves(MATCHED).max()),
            lambda f: f"By exactly that: {_and([m for m, s in zip(f.models, f.moves(MATCHED), strict=True) if s == f.moves(MATCHED).max()])}.",
        ),
        Claim(
            "networks/spread",
            "impact of data cleaning",
            "Spread of original accuracies of the networks without AlexNet and the SqueezeNets",
            "14%",
            lambda f: _spread(f, tuple(m for m in f.networks if m not in SMALLEST)),
        ),
        Claim(
            "interval/half-width",
            "potential causes of accuracy drops",
            "Largest half-width of a 95% Clopper–Pearson interval at 10,000 images",
            "±1%",
            _half_width,
            "Over all models on MatchedFrequency; at an accuracy of exactly one half it is 0.99.",
        ),
    ]  # fmt: skip


def _table() -> list[Claim]:
    return [claim for model, printed in TABLE.items() for claim in _rows(model, printed)]


def _rows(model: str, printed: tuple[str, ...]) -> list[Claim]:
    numbers: list[tuple[str, Callable[[Facts], float]]] = [
        ("original place", lambda f: f.place(model, ORIGINAL)),
        ("original", lambda f: f.one(model, ORIGINAL)),
        ("original from", lambda f: _interval(f, model, ORIGINAL)[0]),
        ("original to", lambda f: _interval(f, model, ORIGINAL)[1]),
        ("new", lambda f: f.one(model, MATCHED)),
        ("new from", lambda f: _interval(f, model, MATCHED)[0]),
        ("new to", lambda f: _interval(f, model, MATCHED)[1]),
        ("loss", lambda f: -float(f.change(MATCHED, [model])[0])),
        ("new place", lambda f: f.place(model, MATCHED)),
    ]
    return [
        Claim(f"table-1/{model}/{what.replace(' ', '-')}", "Table 1", f"{model}: {what}", text, compute)
        for (what, compute), text in zip(numbers, printed, strict=True)
    ]


def _range(
    id_: str, where: str, text: str, printed: str, group: Callable[[Facts], tuple[str, ...]], pick: Callable[..., float]
) -> Claim:  # fmt: skip
    return Claim(id_, where, text, printed, lambda f: float(pick(f.accuracy(ORIGINAL, group(f)))))


def _loss(
    id_: str,
    where: str,
    text: str,
    printed: str,
    group: Callable[[Facts], tuple[str, ...]],
    pick: Callable[..., float],
    note: str | Callable[[Facts], str] = "",
) -> Claim:
    return Claim(id_, where, text, printed, lambda f: float(pick(-f.change(MATCHED, group(f)))), note)


def _networks(facts: Facts) -> tuple[str, ...]:
    return facts.networks


def _fisher(facts: Facts) -> tuple[str, ...]:
    return facts.family(FISHER)


def _first(facts: Facts) -> str:
    accuracy = facts.accuracy(ORIGINAL, facts.networks)
    return facts.networks[int(accuracy.argmax())]


def _spread(facts: Facts, models: tuple[str, ...]) -> float:
    accuracy = facts.accuracy(ORIGINAL, models)
    return float(accuracy.max() - accuracy.min())


def _interval(facts: Facts, model: str, name: str) -> tuple[float, float]:
    low, high = clopper_pearson(facts.right(model, name), facts.images(name), 0.95)
    return 100 * float(low), 100 * float(high)


def _half_width(facts: Facts) -> float:
    ends = [_interval(facts, m, MATCHED) for m in facts.models]
    return max((high - low) / 2 for low, high in ends)


def _below(facts: Facts) -> str:
    loss = -facts.change(MATCHED, facts.networks)
    fewer = sorted((float(x), m) for x, m in zip(loss, facts.networks, strict=True) if x < 11)
    if not fewer:
        return ""
    listed = _and([f"{m} {x:.1f}" for x, m in fewer])
    return f"{len(fewer)} of {len(loss)} networks lose less than 11 points: {listed}. The median loss is {_median(loss):.1f}."  # fmt: skip


def _median(values: object) -> float:
    import numpy as np

    return float(np.median(np.asarray(values)))


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
