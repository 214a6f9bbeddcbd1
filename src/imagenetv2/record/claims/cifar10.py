"""What the two papers say of CIFAR-10: the ImageNet paper (2019) and its forerunner (2018, arXiv 1806.00451).

The paper of 2019 has 34 models. Of the 30 released, one is only in the paper of 2018; five of the 34, all with learnt
augmentation, were not released. Their accuracies as printed complete the places and the line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.lines.least_squares import Line
from imagenetv2.analysis.ranks import places
from imagenetv2.intervals import clopper_pearson
from imagenetv2.record.claims.claim import Claim, Missing
from imagenetv2.record.claims.facts import Facts, Floats, fitted

V4, V6 = "v4", "v6"
ONLY_2018 = "alexnet_tf_ben"
UNRELEASED = {
    "autoaug_pyramid_net_tf": (98.4, 95.5),
    "autoaug_shake_shake_112_tf": (98.1, 93.9),
    "autoaug_shake_shake_96_tf": (98.0, 93.7),
    "autoaug_wrn_tf": (97.5, 93.0),
    "autoaug_shake_shake_32_tf": (97.3, 92.9),
}
"""Original and new accuracy, percent, as printed, of the models of 2019 whose predictions were not released."""
NOT_RELEASED = "Its predictions were not released."
TABLE = {
    "shake_shake_26_2x64d_SSI_cutout16": ("shake_shake_64d_cutout", "6", "97.1", "93.0", "4.1", "5"),
    "wrn_28_10": ("wide_resnet_28_10", "16", "95.9", "89.7", "6.2", "14"),
    "resnet_basic_110": ("resnet_basic_110", "23", "93.5", "85.2", "8.3", "24"),
    "vgg_15_BN_64": ("vgg_15_BN_64", "27", "93.0", "84.9", "8.1", "27"),
    "cudaconvnet": ("cudaconvnet", "30", "88.5", "77.5", "11.0", "30"),
    "random_features_256k_aug": ("random_features_256k_aug", "31", "85.6", "73.1", "12.5", "31"),
}
"""The paper's Table 1, CIFAR-10: name there, place, original and new accuracy, loss, new place."""
CUTOUT, PLAIN = "shake_shake_26_2x64d_SSI_cutout16", "shake_shake_26_2x64d_SSI"
WIDE_CUTOUT, WIDE = "wrn_28_10_cutout16", "wrn_28_10"
OLDEST = ("cudaconvnet", ONLY_2018)


def claims() -> list[Claim]:
    """All of them, in the order of the page."""
    return [*_counts(), *_table(), *_lines(), *_losses(), *_of_2018(), *_intervals(), *_experiments()]


def _counts() -> list[Claim]:
    return [
        Claim("models/2019", "2019: models tested", "Models with predictions, of those of 2019", "34", lambda f: len(_of_2019(f)), f"Not released: {', '.join(UNRELEASED)}. Of the 30 released, {ONLY_2018} is no model of 2019: without it, and with those five, there are 34. Places and the line below are among these."),
        Claim("models/2018", "2018: introduction", "Models tested", "30", lambda f: len(f.models)),
        Claim("sets/size", "2019: dataset creation", "Images of the new set", "2,000", lambda f: f.images(V4), _which_set),
        Claim("sets/training", "2018: training on part of the new set", "Images of the new set, half for training and half held out", "2,021 = 1,010 + 1,011", lambda f: f.images(V4), "This is v4, from which the numbers of both papers come."),
        Claim("sets/ship", "2019: class balance", "Ships among the images of the new set, instead of 10%", "8%", lambda f: 100 * float((f.on(V4).images["class_index"] == 8).mean())),
        Claim("sets/balanced", "2019: class balance", "Images a class in the balanced version (v6)", "200", _balanced),
    ]  # fmt: skip


def _table() -> list[Claim]:
    where = "2019: Table 1"
    best = next(iter(UNRELEASED))
    rows = [Claim(f"table-1-{best}", where, f"{best}: original accuracy, new accuracy, loss", "98.4, 95.5, 2.9", None, NOT_RELEASED)]  # fmt: skip
    for model, printed in TABLE.items():
        rows += _rows(model, *printed)
    return rows


def _rows(model: str, name: str, place: str, old: str, new: str, loss: str, new_place: str) -> list[Claim]:
    numbers: list[tuple[str, str, Callable[[Facts], float]]] = [
        ("original place", place, lambda f: _place(f, model, ORIGINAL)),
        ("original", old, lambda f: f.one(model, ORIGINAL)),
        ("new", new, lambda f: f.one(model, V4)),
        ("loss", loss, lambda f: _loss(f, (model,), max)),
        ("new place", new_place, lambda f: _place(f, model, V4)),
    ]
    return [
        Claim(
            f"table-1/{model}/{what.replace(' ', '-')}", "2019: Table 1", f"{name}: {what}", printed, compute
        )
        for what, printed, compute in numbers
    ]


def _lines() -> list[Claim]:
    where = "2019: Figure 1"
    return [
        Claim("lines/slope", where, "Slope of new on original accuracy", "1.69", lambda f: _completed(f).slope, _alone),
        Claim("lines/offset", where, "Offset of that line", "−72.7%", lambda f: _completed(f).offset, "As for the slope."),
    ]  # fmt: skip


def _losses() -> list[Claim]:
    return [
        Claim("losses/smallest", "2019: abstract", "Smallest loss on CIFAR-10", "3%", None, lambda f: f"It is that of autoaug_pyramid_net_tf, 2.9 points as printed, which was not released. Of the models released the smallest is {_loss(f, _of_2019(f), min):.1f}."),
        Claim("losses/largest", "2019: abstract", "Largest loss on CIFAR-10", "15%", lambda f: _loss(f, _of_2019(f), max)),
        Claim("losses/smallest-2018", "2018: discussion", "Smallest loss of a model", "4%, by “4 - 15%”", lambda f: _loss(f, f.models, min)),
        Claim("losses/largest-2018", "2018: discussion", "Largest loss of a model", "15%, by “4 - 15%”", lambda f: _loss(f, f.models, max)),
        Claim("losses/networks-smallest", "2018: abstract", "Smallest loss of a broad range of deep models", "4%, by “4% to 10%”", lambda f: _loss(f, f.networks, min)),
        Claim("losses/networks-largest", "2018: abstract", "Largest loss of a broad range of deep models", "10%, by “4% to 10%”", lambda f: _loss(f, f.networks, max), _oldest),
    ]  # fmt: skip


def _of_2018() -> list[Claim]:
    where = "2018: results"
    resnet = "resnet_basic_110"
    simple = (
        "vgg16_keras",
        "vgg_15_BN_64",
        ONLY_2018,
        "resnet_basic_32",
        "resnet_basic_44",
        "resnet_basic_56",
        resnet,
    )
    return [
        Claim("2018/best-original", where, "shake_shake_64d_cutout: original accuracy", "97%", lambda f: f.one(CUTOUT, ORIGINAL)),
        Claim("2018/best-new", where, "shake_shake_64d_cutout: new accuracy", "93%", lambda f: f.one(CUTOUT, V4)),
        Claim("2018/advantage", "2018: introduction", "Advantage of shake_shake_64d_cutout over a ResNet, original", "4%", lambda f: f.one(CUTOUT, ORIGINAL) - f.one(resnet, ORIGINAL)),
        Claim("2018/advantage-new", "2018: introduction", "Advantage of shake_shake_64d_cutout over a ResNet, new", "8%", lambda f: f.one(CUTOUT, V4) - f.one(resnet, V4)),
        Claim("2018/vgg", "2018: hyperparameter tuning", "vgg16_keras: new accuracy before tuning", "85.25%", lambda f: f.one("vgg16_keras", V4)),
        Claim("2018/cutout", where, "What cutout adds to shake_shake_64d, original", "0.12%", lambda f: f.one(CUTOUT, ORIGINAL) - f.one(PLAIN, ORIGINAL)),
        Claim("2018/cutout-new", where, "What cutout adds to shake_shake_64d, new", "1.5%", lambda f: f.one(CUTOUT, V4) - f.one(PLAIN, V4)),
        Claim("2018/wide", where, "What cutout adds to wide_resnet_28_10, original", "1%", lambda f: f.one(WIDE_CUTOUT, ORIGINAL) - f.one(WIDE, ORIGINAL)),
        Claim("2018/wide-new", where, "What cutout adds to wide_resnet_28_10, new", "2.2%", lambda f: f.one(WIDE_CUTOUT, V4) - f.one(WIDE, V4), _wide),
        Claim("2018/error-largest", where, "Largest growth of the error rate of a model, times", "3", lambda f: float(_growth(f, f.models).max())),
        Claim("2018/error-simple-low", where, "Growth of the error rate of VGG, AlexNet and ResNet models, from", "1.7", lambda f: float(_growth(f, simple).min())),
        Claim("2018/error-simple-high", where, "Growth of the error rate of VGG, AlexNet and ResNet models, to", "2.3", lambda f: float(_growth(f, simple).max())),
    ]  # fmt: skip


def _intervals() -> list[Claim]:
    where = "2018: statistical error"
    return [
        Claim("intervals/low", "2018: collecting new images", "Clopper–Pearson interval of 90% of 2,000, lower end", "88.6%", lambda f: _ends(1800, 2000)[0]),
        Claim("intervals/high", "2018: collecting new images", "Clopper–Pearson interval of 90% of 2,000, upper end", "91.3%", lambda f: _ends(1800, 2000)[1]),
        Claim("intervals/original-90", where, "Half-width at 90% of 10,000", "±0.6%", lambda f: _half(9000, 10000)),
        Claim("intervals/original-97", where, "Half-width at 97% of 10,000", "±0.3%", lambda f: _half(9700, 10000)),
    ]  # fmt: skip


def _experiments() -> list[Claim]:
    trained = "It needs models trained for it, whose predictions were not released."
    people = "The answers of the people were not released."
    images = "It needs the images; only labels and predictions are here."
    return [
        Claim("2018/tuned", "2018: hyperparameter tuning", "vgg16_keras: new accuracy after tuning", "85.84%", None, trained),
        Claim("2018/half-first", "2018: training on part of the new set", "vgg16_keras trained with half of the new set, on the other half", "85.06%", None, trained),
        Claim("2018/half-second", "2018: training on part of the new set", "The same with another half", "85.36%", None, trained),
        Claim("2018/duplicates", "2018: near-duplicates", "Images of the original test set with a near-duplicate among the training images", "800", None, images),
        Claim("2019/discriminator", "2019: telling the sets apart", "Best accuracy of a network that tells original from new images", "53.1%", None, trained),
        Claim("2019/people", "2019: human accuracy", "Average difference between people's accuracy on original and new images", "−0.8%", None, people),
    ]  # fmt: skip


def _of_2019(facts: Facts) -> tuple[str, ...]:
    return tuple(m for m in facts.models if m != ONLY_2018)


def _loss(facts: Facts, models: tuple[str, ...], pick: Callable[..., float]) -> float:
    return float(pick(-facts.change(V4, models)))


def _place(facts: Facts, model: str, name: str) -> int:
    """Place among the released models of 2019, ties by name, and those printed only."""
    own, printed = (
        facts.one(model, name),
        np.array(list(UNRELEASED.values()))[:, 0 if name == ORIGINAL else 1],
    )
    models = _of_2019(facts)
    place = places(facts.accuracy(name, models), models)[models.index(model)]
    return int(place) + int((printed > own).sum())


def _axes(facts: Facts, name: str = V4) -> tuple[Floats, Floats]:
    models, printed = _of_2019(facts), np.array(list(UNRELEASED.values()))
    if len(models) + len(printed) != 34:
        raise Missing(f"The record has {len(models)} of the 29 models of 2019 that were released.")
    old, new = facts.accuracy(ORIGINAL, models), facts.accuracy(name, models)
    return np.concatenate([old, printed[:, 0]]), np.concatenate([new, printed[:, 1]])


def _completed(facts: Facts) -> Line:
    return fitted(*_axes(facts))


def _alone(facts: Facts) -> str:
    some, every = facts.line(V4, _of_2019(facts)), facts.line(V4)
    x, y = (
        np.append(_axes(facts)[0], facts.one(ONLY_2018, ORIGINAL)),
        np.append(_axes(facts)[1], facts.one(ONLY_2018, V4)),
    )
    return (
        f"Over the 29 released models of 2019 and the five others as printed. The record alone: {some.slope:.2f} and "
        f"{some.offset:.1f} over those 29, {every.slope:.2f} and {every.offset:.1f} over all 30; with all 35, "
        f"{fitted(x, y).slope:.2f} and {fitted(x, y).offset:.1f}. On v6 the 29 give {facts.line(V6, _of_2019(facts)).slope:.2f}."
    ).replace(" -", " −")  # fmt: skip


def _which_set(facts: Facts) -> str:
    fits = {
        name: sum(abs(facts.one(m, name) - float(row[3])) <= 0.05 for m, row in TABLE.items())
        for name in (V4, V6)
    }
    return (
        f"v4 holds {facts.images(V4):,} images, v6 {facts.images(V6):,}. Of the {len(TABLE)} new accuracies of Table 1 that "
        f"can be checked, {fits[V4]} are those on v4 and {fits[V6]} those on v6; so all here is on v4."
    )  # fmt: skip


def _balanced(facts: Facts) -> float | str:
    if V6 not in facts.sets:
        raise Missing("There are no predictions on v6.")
    counts = sorted({int(n) for n in facts.on(V6).images.groupby("class_index").size()})
    return counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _oldest(facts: Facts) -> str:
    rest = tuple(m for m in facts.networks if m not in OLDEST)
    two = ", ".join(f"{m} {_loss(facts, (m,), max):.1f}" for m in OLDEST)
    return f"The two oldest networks lose more: {two}. The other {len(rest)} lose {_loss(facts, rest, min):.1f} to {_loss(facts, rest, max):.1f}."


def _wide(facts: Facts) -> str:
    gained = facts.right(WIDE_CUTOUT, V4) - facts.right(WIDE, V4)
    return f"{gained} of {facts.images(V4):,} images are {100 * gained / facts.images(V4):.3f}%; cut off instead of rounded, 2.2."


def _growth(facts: Facts, models: tuple[str, ...]) -> Floats:
    out: Floats = (100 - facts.accuracy(V4, models)) / (100 - facts.accuracy(ORIGINAL, models))
    return out


def _ends(right: int, images: int) -> tuple[float, float]:
    low, high = clopper_pearson(right, images)
    return 100 * float(low), 100 * float(high)


def _half(right: int, images: int) -> float:
    low, high = _ends(right, images)
    return (high - low) / 2
