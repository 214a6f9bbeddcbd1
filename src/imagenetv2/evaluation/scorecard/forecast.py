"""What a run takes, said before it runs: counts exactly, times from a few images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

import numpy as np

from imagenetv2.analysis.wording import count, duration, grid, plural, volume
from imagenetv2.errors import InputError
from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.names import input_words
from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running.passes import CPU_PASS
from imagenetv2.evaluation.running.tasks import Resources
from imagenetv2.evaluation.scorecard import hidden
from imagenetv2.evaluation.scorecard.card import Plan
from imagenetv2.evaluation.scorecard.content import at_hand
from imagenetv2.evaluation.scorecard.entrants import Entrant
from imagenetv2.evaluation.scorecard.terminal import heading
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.evaluation.scorecard.work import Piece, resources
from imagenetv2.images import Pixels
from imagenetv2.networks.reproducible import numerics

TRIED = 8
"""Images that are decoded to see how long it takes."""
PATIENCE = 30.0
"""Seconds after which no further network is timed."""
RECORD = 60
"""Bytes of predictions an image, about."""


def lines(plan: Plan, wanted: Wanted) -> list[str]:
    """Models, sets, what is to be computed, and what that takes."""
    todo = plan.todo
    inputs = [input_words.parts(e.preprocessing) for e in plan.entrants]
    columns = {"model": [e.name for e in plan.entrants]}
    columns |= {
        name: [each[name] or "–" for each in inputs] for name in ("input_size", "resize", "interpolation")
    }
    found = [*grid(columns), "", *(heading(of) for of in plan.sets)]
    found += [
        f"{path}: a compressed archive of {volume(path.stat().st_size)}; it would be unpacked into "
        f"{hidden.unpacked(wanted.out)} first, and is not counted below"
        for path in plan.packed
    ]
    there = len(plan.pieces) - len(todo)
    found += [
        "",
        f"{plural(len(plan.pieces), 'prediction')}, one a model and set; {count(there)} of them "
        f"{'is' if there == 1 else 'are'} there already.",
    ]
    if not todo:
        return [*found, *([] if plan.packed else ["Nothing is to be computed."])]
    how, images = resources(wanted), decodings(todo)
    passes = sum(left(piece) for piece in todo)
    return [
        *found,
        f"{plural(sum(images.values()), 'image')} to decode, for {plural(len(images), 'preprocessing')}; "
        f"{plural(passes, 'time')} an image goes through a network, on {', '.join(how.devices)}.",
        f"Memory: up to {volume(wanted.memory)} of prepared images, beside the networks.",
        f"Disk: {volume(disk(todo, wanted.logits))} of predictions.",
        *times(todo, images, how),
    ]


def left(piece: Piece) -> int:
    """Images that a model has not seen."""
    return len(piece.of.set.ids) - piece.ledger.done


def decodings(todo: Iterable[Piece]) -> Mapping[Cut, int]:
    """Images that are decoded for each preprocessing: those of each set that some model has not seen."""
    most: dict[tuple[Cut, str], int] = {}
    for piece in todo:
        place = (piece.entrant.preprocessing.cut, piece.of.name)
        most[place] = max(most.get(place, 0), left(piece))
    found: dict[Cut, int] = {}
    for (cut, _), images in most.items():
        found[cut] = found.get(cut, 0) + images
    return found


def disk(todo: Iterable[Piece], logits: bool) -> int:
    """Bytes of predictions, about."""
    return sum(len(p.of.set.ids) * (RECORD + (2 * p.of.set.classes.size if logits else 0)) for p in todo)


def times(todo: Sequence[Piece], images: Mapping[Cut, int], how: Resources) -> list[str]:
    """A forecast in words, from images of the first set."""
    of = todo[0].of.set
    try:
        start = perf_counter()
        tried: list[Pixels] = [of.pixels[i] for i in range(min(TRIED, len(of.ids)))]
        decode = (perf_counter() - start) / len(tried)
        cuts = {cut: _timed_cut(cut, tried) for cut in images}
    except InputError as error:
        return [f"No forecast: {error}"]
    preparing = sum(count * (decode + cuts[cut]) for cut, count in images.items()) / how.cores
    networks = timed_networks(todo, tried, how)
    entrants = {piece.entrant.name for piece in todo}
    running = sum(
        left(piece) * networks[piece.entrant.name] for piece in todo if piece.entrant.name in networks
    )
    found = f"Time, from {plural(len(tried), 'image')}: {duration(preparing)} for decoding"
    if networks:
        found += f", {duration(running)} for {_share(len(networks), len(entrants))}"
    unknown = (
        "" if len(networks) == len(entrants) else "; networks whose weights are not at hand are not counted"
    )
    return [f"{found}{unknown}."]


def _share(some: int, all_of: int) -> str:
    return plural(all_of, "network") if some == all_of else f"{some} of {plural(all_of, 'network')}"


def _timed_cut(cut: Cut, tried: Sequence[Pixels]) -> float:
    start = perf_counter()
    for pixels in tried:
        cut(pixels)
    return (perf_counter() - start) / len(tried)


def timed_networks(todo: Sequence[Piece], tried: Sequence[Pixels], how: Resources) -> dict[str, float]:
    """Seconds an image of each network whose weights are on this machine, as long as patience lasts."""
    found: dict[str, float] = {}
    began = perf_counter()
    with numerics():
        for entrant in {piece.entrant.name: piece.entrant for piece in todo}.values():
            if at_hand(entrant.model) and perf_counter() - began < PATIENCE:
                try:
                    found[entrant.name] = _timed_network(entrant, tried, how)
                except InputError:
                    continue
    return found


def _timed_network(entrant: Entrant, tried: Sequence[Pixels], how: Resources) -> float:
    """The second pass counts: the first one prepares."""
    device = how.devices[0]
    size = CPU_PASS if device == "cpu" else how.batch
    cut = entrant.preprocessing.cut
    batch = np.resize(np.stack([cut(pixels) for pixels in tried]), (size, *cut.size, 3))
    network = classifier.load(entrant.model, entrant.facts, {}, Compute(device, how.mode, compile=False))
    seconds = 0.0
    for _ in range(2):
        start = perf_counter()
        network.outputs(batch)
        seconds = perf_counter() - start
    return seconds / size / (how.cores if device == "cpu" else len(how.devices))
