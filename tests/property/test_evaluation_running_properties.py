"""Whatever is run, in whatever way, and killed wherever: the same records, and each image decoded once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running.ledger import record_type
from imagenetv2.images import Pixels
from tests.unit.evaluation_running import CLASSES, CUT, Linear, Loads, expected, filled, images, read, task

OTHER = Cut.square(2, 2, "nearest")
ITEM = record_type(CLASSES, False).itemsize
DEVICES = st.sampled_from([("cpu",), ("cuda:0",), ("cuda:0", "cuda:1"), ("cuda:0", "cuda:1", "cuda:2")])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_records_depend_on_nothing_but_model_and_image(data: st.DataObject) -> None:
    sets = [images(data.draw(st.integers(0, 30)), seed, f"set{seed}") for seed in range(2)]
    loads = Loads()
    models = [loads.model(f"m{n}", cut=data.draw(st.sampled_from([CUT, OTHER]))) for n in range(3)]
    pairs = data.draw(st.permutations([(m, s) for m in models for s in sets]))
    pairs = pairs[: data.draw(st.integers(1, len(pairs)))]
    with tempfile.TemporaryDirectory() as folder:
        tasks = [task(Path(folder), model, of) for model, of in pairs]
        assert (
            filled(
                tasks,
                devices=data.draw(DEVICES),
                cores=data.draw(st.integers(1, 3)),
                memory=data.draw(st.sampled_from([1, 400, 1500, 10**6])),
                batch=data.draw(st.sampled_from([1, 5, 16])),
            )
            == {}
        )
        for each in tasks:
            wanted, found = expected(each, Linear(sum(each.model.name.encode()), each.model.cut)), read(each)
            assert found["rank"].tolist() == [row[0] for row in wanted]
            assert found["top5"].tolist() == [row[1] for row in wanted]
        for of in sets:
            cuts = {model.cut for model, other in pairs if other is of}
            assert sorted(of.pixels.decoded) == sorted(list(range(len(of.ids))) * len(cuts))  # type: ignore[attr-defined]


class Convolutions:
    """A network whose sums are rounded, so that another order of them would show."""

    digest = None

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self._first = torch.randn(16, 3, 3, 3, generator=generator)
        self._second = torch.randn(CLASSES, 16 * 9, generator=generator)

    def outputs(self, batch: Pixels) -> Any:
        with torch.inference_mode():
            images = torch.from_numpy(np.array(batch)).permute(0, 3, 1, 2).float() / 255
            maps = torch.nn.functional.conv2d(images, self._first, padding=1).relu()
            return (maps.flatten(1) @ self._second.T).numpy()


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_no_bit_of_a_network_of_rounded_sums_depends_on_how_it_is_run(data: st.DataObject) -> None:
    of, loads = images(data.draw(st.integers(1, 40))), Loads()
    models = [loads.model(f"m{n}", lambda n=n: Convolutions(n)) for n in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        plain = [task(Path(folder, "plain"), model, of) for model in models]
        other = [task(Path(folder, "other"), model, of) for model in data.draw(st.permutations(models))]
        assert filled(plain, logits=True) == {}
        there = data.draw(st.integers(0, len(of.ids)))
        other[0].ledger.parent.mkdir()
        kept = Path(folder, "plain", other[0].ledger.name).read_bytes()
        other[0].ledger.write_bytes(kept[: there * record_type(CLASSES, True).itemsize])
        memory = data.draw(st.sampled_from([1, 700, 2000, 10**6]))
        assert filled(other, logits=True, cores=data.draw(st.integers(1, 3)), memory=memory) == {}
        for each in plain:
            assert each.ledger.read_bytes() == Path(folder, "other", each.ledger.name).read_bytes()


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_run_killed_anywhere_goes_on_and_decodes_only_what_is_needed(data: st.DataObject) -> None:
    of, loads = images(data.draw(st.integers(1, 25))), Loads()
    devices, memory = data.draw(DEVICES), data.draw(st.sampled_from([1, 700, 10**6]))
    with tempfile.TemporaryDirectory() as folder:
        tasks = [task(Path(folder), loads.model(f"m{n}"), of) for n in range(3)]
        filled(tasks)
        whole = [each.ledger.read_bytes() for each in tasks]
        cuts = [data.draw(st.integers(0, len(part))) for part in whole]
        for each, part, cut in zip(tasks, whole, cuts, strict=True):
            each.ledger.write_bytes(part[:cut])
        of.pixels.decoded.clear()  # type: ignore[attr-defined]
        loads.devices.clear()
        filled(tasks, devices=devices, memory=memory, cores=2, batch=4)
        assert [each.ledger.read_bytes() for each in tasks] == whole
        done = [cut // ITEM for cut in cuts]
        assert sorted(of.pixels.decoded) == list(range(min(done), len(of.ids)))  # type: ignore[attr-defined]
        assert sorted(loads.devices) == [f"m{n}" for n in range(3) if done[n] < len(of.ids)]
