"""The runner: what is decoded, loaded and written when, and what one model's failure does to the others."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running import loader, runner, shown, writer
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.passes import CPU_PASS
from imagenetv2.evaluation.running.tasks import Task
from tests.unit.evaluation_running import (
    CLASSES,
    CUT,
    Linear,
    Loads,
    Photographs,
    filled,
    images,
    read,
    require_expected,
    task,
)

ITEM = record_type(CLASSES, False).itemsize
PIXELS = 27
"""Bytes of a prepared image."""
WAIT = 60
"""Seconds after which a test that would wait for ever fails."""


class Odd(Linear):
    """Does something else from the pass with a given image on."""

    def __init__(self, act: Callable[[Any], Any], after: int = 0) -> None:
        super().__init__(1)
        self._act, self._after = act, after

    def outputs(self, batch: Any) -> Any:
        found = super().outputs(batch)
        return self._act(found) if len(self.passes) > self._after else found


def raising(error: Exception) -> Callable[[Any], Any]:
    def act(_: Any) -> Any:
        raise error

    return act


def not_a_number(outputs: Any) -> Any:
    outputs[1::3, 2] = np.nan
    return outputs


@pytest.mark.parametrize("offset", range(3 * ITEM + 1))
def test_a_ledger_cut_at_any_byte_is_completed(tmp_path: Path, offset: int) -> None:
    of = images(3)
    each = task(tmp_path, Loads().model("m"), of)
    filled([each])
    whole = each.ledger.read_bytes()
    each.ledger.write_bytes(whole[:offset])
    of.pixels.decoded.clear()  # type: ignore[attr-defined]
    filled([each])
    assert each.ledger.read_bytes() == whole
    assert of.pixels.decoded == list(range(offset // ITEM, 3))  # type: ignore[attr-defined]


def test_a_power_cut_that_left_zeros_is_mended(tmp_path: Path) -> None:
    for logits in (False, True):
        each = task(tmp_path / str(logits), Loads().model("m"), images(9))
        filled([each], logits=logits)
        whole = each.ledger.read_bytes()
        for start in (0, ITEM, 3 * ITEM + 30, *range(len(whole) - 20, len(whole), 3)):
            each.ledger.write_bytes(whole[:start] + bytes(len(whole) - start))
            filled([each], logits=logits)
            assert each.ledger.read_bytes() == whole


def test_a_finished_model_is_neither_loaded_nor_run(tmp_path: Path) -> None:
    of, loads = images(10), Loads()
    tasks = [task(tmp_path, loads.model(name), of) for name in ("a", "b")]
    filled(tasks[:1])
    assert filled(tasks) == {}
    assert loads.devices == {"a": ["cpu"], "b": ["cpu"]}
    of.pixels.decoded.clear()  # type: ignore[attr-defined]
    assert filled(tasks) == {}
    assert of.pixels.decoded == []  # type: ignore[attr-defined]


def test_passes_on_a_cpu_are_always_of_one_size(tmp_path: Path) -> None:
    model = Linear(sum(b"m"))
    each = task(tmp_path, Loads().model("m", lambda: model), images(21))
    filled([each], batch=3, cores=2)
    assert model.passes == [CPU_PASS] * 3
    require_expected(each)


def test_passes_on_a_gpu_are_of_the_batch_and_the_last_is_short(tmp_path: Path) -> None:
    model = Linear(sum(b"m"))
    each = task(tmp_path, Loads().model("m", lambda: model), images(21))
    filled([each], batch=9, devices=("cuda:0",))
    assert sorted(model.passes) == [3, 9, 9]
    require_expected(each)


def test_short_passes_are_filled_up_in_fast_modes(tmp_path: Path) -> None:
    model = Linear(sum(b"m"))
    each = task(tmp_path, Loads().model("m", lambda: model), images(21))
    filled([each], batch=9, devices=("cuda:0",), mode="bf16")
    assert model.passes == [9, 9, 9]
    require_expected(each)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda found: found[:, :6], r"models: bad: it gives 6 outputs an image, not 7; take weights"),
        (lambda found: found[:3], r"models: bad: it gives 3 × 7 for 8 images, not a row of 7 outputs for each"),
        (lambda found: found[0, 0], r"models: bad: it gives one number for 8 images"),
        (
            not_a_number,
            r"models: bad: its outputs for noise-1, noise-4, noise-7 \(3 of the 8 images of a pass over noise\) are "
            "not finite numbers",
        ),
        (
            raising(RuntimeError("weight of size [8, 4, 3, 3], expected input[8, 3, 3, 3] to have 4 channels.\nand more")),
            r"models: bad: a forward pass of 8 images of 3 × 3 pixels fails \(weight of size \[8, 4, 3, 3\], expected "
            r"input\[8, 3, 3, 3\] to have 4 channels\); correct the model",
        ),
        (raising(AssertionError()), r"models: bad: a forward pass of .* fails \(AssertionError\)"),
        (raising(MemoryError("no room")), r"models: bad: memory does not suffice for a forward pass of 8 images of 3 × 3"),
        (raising(InputError("models: bad: its own words.")), r"^models: bad: its own words\.$"),
    ],
)  # fmt: skip
def test_a_model_that_fails_says_why_and_others_go_on(
    tmp_path: Path, act: Callable[[Any], Any], message: str
) -> None:
    of, loads = images(20), Loads()
    models = [loads.model("a"), loads.model("bad", lambda: Odd(act)), loads.model("b")]
    tasks = [task(tmp_path, model, of) for model in models]
    failures = filled(tasks, cores=2, memory=4 * PIXELS * CPU_PASS)
    assert list(failures) == ["bad"]
    with pytest.raises(InputError, match=message):
        raise failures["bad"]
    assert len(read(tasks[1])) == 0
    for good in (tasks[0], tasks[2]):
        require_expected(good)


def test_what_a_model_finished_before_it_failed_is_kept(tmp_path: Path) -> None:
    of, loads = images(40), Loads()
    each = task(tmp_path, loads.model("m", lambda: Odd(not_a_number, after=2)), of)
    failures = filled([each])
    assert "noise-17, noise-20, noise-23 (3 of the 8 images" in str(failures["m"])
    assert len(read(each)) == 16
    again = task(tmp_path, loads.model("m", lambda: Linear(1)), of)
    assert filled([again]) == {}
    require_expected(again, Linear(1))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("models: bad: no weights; give some."), "no weights; give some"),
        (RuntimeError("PytorchStreamReader failed\nat"), r"bad: it cannot be loaded \(PytorchStreamReader failed\)"),
        (torch.OutOfMemoryError("CUDA out of memory"), r"bad: it needs more memory than this machine has \(CUDA out of"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_loaded_fails_alone(tmp_path: Path, error: Exception, message: str) -> None:
    of, loads = images(12), Loads()
    bad = loads.model("bad", lambda: raising(error)(None))
    tasks = [task(tmp_path, model, of) for model in (loads.model("a"), bad, loads.model("b"))]
    failures = filled(tasks)
    assert list(failures) == ["bad"]
    with pytest.raises(InputError, match=message):
        raise failures["bad"]
    require_expected(tasks[0])
    require_expected(tasks[2])


def test_a_model_that_found_no_room_beside_another_is_loaded_again(tmp_path: Path) -> None:
    of, loads, tries = images(12), Loads(), []

    def second_time() -> Linear:
        tries.append(0)
        if len(tries) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return Linear(sum(b"large"))

    tasks = [task(tmp_path, model, of) for model in (loads.model("a"), loads.model("large", second_time))]
    assert filled(tasks, devices=("cuda:0",)) == {}
    require_expected(tasks[1])


class Small(Linear):
    """A device whose memory holds so many images a pass."""

    def __init__(self, room: int, error: Exception) -> None:
        super().__init__(sum(b"m"))
        self._room, self._error = room, error

    def outputs(self, batch: Any) -> Any:
        found = super().outputs(batch)
        if len(batch) > self._room:
            raise self._error
        return found


OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    MemoryError(),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY)
@pytest.mark.parametrize("room", [1, 5, 31])
def test_out_of_memory_halves_the_batch_of_that_model(tmp_path: Path, error: Exception, room: int) -> None:
    of, loads = images(70), Loads()
    small, other = Small(room, error), Linear(sum(b"o"))
    tasks = [
        task(tmp_path, model, of) for model in (loads.model("m", lambda: small), loads.model("o", lambda: other))
    ]  # fmt: skip
    assert filled(tasks, devices=("cuda:0",), batch=32) == {}
    for each in tasks:
        require_expected(each)
    assert sum(size for size in small.passes if size <= room) == 70
    assert small.passes[-1] <= room
    assert sorted(other.passes) == [6, 32, 32]
    assert sorted(of.pixels.decoded) == list(range(70))  # type: ignore[attr-defined]


def test_kept_models_make_room_before_a_batch_is_halved(tmp_path: Path) -> None:
    """In the middle of a block, when no pass of the other model waits."""
    of, loads, sizes = images(256), Loads(), []

    class Large(Linear):
        def outputs(self, batch: Any) -> Any:
            sizes.append(len(batch))
            if len(sizes) == 9:
                raise OUT_OF_MEMORY[0]
            return super().outputs(batch)

    tasks = [task(tmp_path, m, of) for m in (loads.model("a"), loads.model("large", lambda: Large(1)))]
    assert filled(tasks, devices=("cuda:0",), batch=8, memory=2 * 128 * PIXELS) == {}
    assert sizes == [8] * 33
    assert loads.devices["large"] == ["cuda:0"]


def test_a_model_that_runs_is_never_loaded_beside_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "free_share", lambda _: 0.3)
    each = task(tmp_path, (loads := Loads()).model("m"), images(80))
    assert filled([each], devices=("cuda:0",), batch=8, memory=2 * 16 * PIXELS) == {}
    assert loads.devices == {"m": ["cuda:0"]}


def test_a_model_that_fills_the_memory_is_gone_before_the_next_is_tried_again(tmp_path: Path) -> None:
    alive: weakref.WeakSet[Linear] = weakref.WeakSet()

    def large(name: str) -> Linear:
        if alive:
            raise torch.OutOfMemoryError("CUDA out of memory")
        alive.add(made := Linear(sum(name.encode())))
        return made

    of, loads = images(80), Loads()
    tasks = [task(tmp_path, loads.model(n, lambda n=n: large(n)), of) for n in ("a", "b", "c")]
    assert filled(tasks, devices=("cuda:0",), batch=8, memory=2 * 32 * PIXELS) == {}
    for each in tasks:
        require_expected(each)


def test_the_size_of_passes_that_was_used_is_kept_beside_the_records(tmp_path: Path) -> None:
    loads, of = Loads(), images(40)
    small = Small(5, OUT_OF_MEMORY[0])
    tasks = [task(tmp_path, m, of) for m in (loads.model("m", lambda: small), loads.model("o"))]
    ledgers = [Ledger(each.ledger, record_type(CLASSES, False)) for each in tasks]
    assert [each.batch for each in ledgers] == [None, None]
    assert filled(tasks, devices=("cuda:0",), batch=16) == {}
    assert [each.batch for each in ledgers] == [4, 16]
    assert filled(tasks, devices=("cuda:0",), batch=16) == {}
    assert [each.batch for each in ledgers] == [4, 16]


def test_a_model_for_which_one_image_is_too_much_fails(tmp_path: Path) -> None:
    each = task(tmp_path, Loads().model("m", lambda: Small(0, OUT_OF_MEMORY[0])), images(9))
    failures = filled([each], devices=("cuda:0",), batch=8)
    assert "memory does not suffice for a forward pass of 1 image of 3 × 3 pixels (CUDA out" in str(
        failures["m"]
    )


def test_models_are_spread_over_devices_and_stay_on_theirs(tmp_path: Path) -> None:
    of, loads = images(50), Loads()
    tasks = [task(tmp_path, loads.model(f"m{n}"), of) for n in range(6)]
    assert filled(tasks, devices=("cuda:0", "cuda:1"), batch=4, memory=2 * 8 * PIXELS) == {}
    assert loads.devices["m0"] == ["cuda:0"]
    assert loads.devices["m1"] == ["cuda:1"]
    assert all(len(found) == 1 for found in loads.devices.values())
    for each in tasks:
        require_expected(each)
    assert sorted(of.pixels.decoded) == list(range(50))  # type: ignore[attr-defined]


def test_two_models_never_wait_for_one_device(tmp_path: Path) -> None:
    """Each needs the other to run at the same time."""
    meet = threading.Barrier(2, timeout=WAIT)

    class Met(Linear):
        def outputs(self, batch: Any) -> Any:
            meet.wait()
            return super().outputs(batch)

    loads = Loads()
    tasks = [task(tmp_path, loads.model(f"m{n}", lambda: Met(1)), images(8)) for n in range(2)]
    assert filled(tasks, devices=("cuda:0", "cuda:1"), batch=8) == {}


def test_without_room_for_all_models_most_are_loaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(loader.KEPT, "cpu", 3)
    of, loads = images(64), Loads()
    tasks = [task(tmp_path, loads.model(f"m{n}"), of) for n in range(8)]
    assert filled(tasks, memory=2 * 16 * PIXELS) == {}
    counts = sorted(len(found) for found in loads.devices.values())
    assert counts == [1, 1, 1, 4, 4, 4, 4, 4]
    for each in tasks:
        require_expected(each)


def test_the_first_model_starts_before_the_last_image_is_there(tmp_path: Path) -> None:
    started, of = threading.Event(), images(30)
    plain = of.pixels.plain  # type: ignore[attr-defined]

    def late(index: int) -> Any:
        assert index < 29 or started.wait(WAIT)
        return plain(index)

    of.pixels.plain = late  # type: ignore[attr-defined]

    class Starts(Linear):
        def outputs(self, batch: Any) -> Any:
            started.set()
            return super().outputs(batch)

    for devices in (("cpu",), ("cuda:0",)):
        started.clear()
        folder = tmp_path / devices[0][:4]
        assert (
            filled([task(folder, Loads().model("m", lambda: Starts(1)), of)], devices=devices, batch=8) == {}
        )


def test_the_next_model_is_loaded_while_one_runs(tmp_path: Path) -> None:
    loading = threading.Event()

    class Waits(Linear):
        def outputs(self, batch: Any) -> Any:
            assert loading.wait(WAIT)
            return super().outputs(batch)

    def make() -> Linear:
        loading.set()
        return Linear(1)

    loads, of = Loads(), images(9)
    tasks = [task(tmp_path, m, of) for m in (loads.model("a", lambda: Waits(1)), loads.model("b", make))]
    assert filled(tasks) == {}


def test_images_are_decoded_no_further_ahead_than_memory_allows(tmp_path: Path) -> None:
    of, ahead = images(80), []

    class Looks(Linear):
        def outputs(self, batch: Any) -> Any:
            ahead.append(len(of.pixels.decoded) - 8 * len(self.passes))  # type: ignore[attr-defined]
            return super().outputs(batch)

    filled(
        [task(tmp_path, Loads().model("m", lambda: Looks(1)), of)],
        devices=("cuda:0",), batch=8, cores=3, memory=2 * 16 * PIXELS,
    )  # fmt: skip
    assert max(ahead) <= 2 * 16 + 2 * runner.GPU_PASSES * 8
    assert len(ahead) == 10


def test_a_broken_image_stops_the_run_and_finished_records_stay(tmp_path: Path) -> None:
    of, loads = images(60, broken=[41]), Loads()
    tasks = [task(tmp_path, loads.model(name), of) for name in ("a", "b")]
    for devices in (("cpu",), ("cuda:0",)):
        with pytest.raises(InputError, match=r"^image 41 is broken; mend it\.$"):
            filled(tasks, cores=2, devices=devices, batch=8)
        assert len(read(tasks[0])) == 40
    of.pixels.broken = ()  # type: ignore[attr-defined]
    assert filled(tasks) == {}
    for each in tasks:
        require_expected(each)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Whoever was started in the background has been told to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_loses_nothing_that_is_finished(tmp_path: Path) -> None:
    fourth = iter(range(3, 0, -1))
    pressed = threading.Event()

    class Pressed(Linear):
        def outputs(self, batch: Any) -> Any:
            found = super().outputs(batch)
            if next(fourth, 0) == 0:
                if not pressed.is_set():
                    pressed.set()
                    os.kill(os.getpid(), signal.SIGINT)
                # Else all would be done before a busy machine lets the main thread know.
                time.sleep(0.2)
            return found

    of, loads = images(1000), Loads()
    each = task(tmp_path, loads.model("m", lambda: Pressed(1)), of)
    with pytest.raises(KeyboardInterrupt):
        filled([each])
    done = len(read(each))
    assert 32 <= done < 1000
    assert done % CPU_PASS == 0
    other = task(tmp_path / "whole", loads.model("m", lambda: Linear(1)), of)
    assert filled([replace(other, ledger=each.ledger)]) == {}
    assert filled([other]) == {}
    assert each.ledger.read_bytes() == other.ledger.read_bytes()


def test_an_interrupt_while_lanes_are_started_stops_those_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    class Slow(Linear):
        def outputs(self, batch: Any) -> Any:
            begun.set()
            time.sleep(0.02)
            return super().outputs(batch)

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *given: Any, **named: Any) -> Any:
            super().submit(*given, **named)
            assert begun.wait(WAIT)
            raise KeyboardInterrupt

    monkeypatch.setattr(runner, "ThreadPoolExecutor", Interrupted)
    each = task(tmp_path, Loads().model("m", lambda: Slow(1)), images(1000))
    with pytest.raises(KeyboardInterrupt):
        filled([each])
    assert len(read(each)) < 1000


def some_blocks(folder: Path, broken: tuple[int, ...] = ()) -> list[Task]:
    """More blocks than fit into memory, each for one pass; the first image comes after one of another block."""
    of, loads = images(8, broken=broken), Loads()
    plain = type(of.pixels).__getitem__

    class Slow(Photographs):
        def __getitem__(self, index):  # type: ignore[no-untyped-def]
            if index == 0 and not self.decoded:
                self.decoded.append(0)
                end = time.monotonic() + WAIT
                while len(self.decoded) < 2 and time.monotonic() < end:
                    time.sleep(0.01)
            return plain(self, index)

    of = replace(of, pixels=Slow(8, broken=broken))
    return [task(folder, loads.model(f"m{n}", cut=Cut.square(3, 4 + n)), of) for n in range(6)]


@pytest.mark.parametrize("devices", [("cpu",), ("cuda:0",), ("cuda:0", "cuda:1")])
def test_no_error_leaves_a_thread_waiting_for_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: tuple[str, ...]
) -> None:
    with pytest.raises(InputError, match="image 0 is broken"):
        filled(some_blocks(tmp_path, (0,)), cores=2, devices=devices, batch=8)

    def full(self: Ledger, records: Any) -> None:
        raise OSError(28, "No space left on device", str(self.path))

    monkeypatch.setattr(Ledger, "append", full)
    with pytest.raises(OSError, match="No space left"):
        filled(some_blocks(tmp_path), cores=2, devices=devices, batch=8)


def test_passes_after_one_that_failed_are_not_kept(tmp_path: Path) -> None:
    """They were computed before it failed, and would stand in its place."""
    later = threading.Event()

    class First(Linear):
        def outputs(self, batch: Any) -> Any:
            found = super().outputs(batch)
            if np.array_equal(batch[0], CUT(of.pixels.plain(0))):  # type: ignore[attr-defined]
                assert later.wait(WAIT)
                return np.full_like(found, np.nan)
            later.set()
            return found

    of = images(64)
    each = task(tmp_path, Loads().model("m", lambda: First(1)), of)
    assert list(filled([each], cores=2)) == ["m"]
    assert len(read(each)) == 0


def test_many_tasks_need_few_open_files(tmp_path: Path) -> None:
    of, loads = images(1), Loads()
    tasks = [task(tmp_path, loads.model(f"m{n}"), of) for n in range(80)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    here = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    resource.setrlimit(resource.RLIMIT_NOFILE, (here + 40, hard))
    try:
        assert filled(tasks) == {}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_full_disk_names_the_file_and_what_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "IMAGES", 8)
    each = task(tmp_path, Loads().model("m"), images(40))
    append = Ledger.append

    def full(self: Ledger, records: Any) -> None:
        if self.done < 16:
            return append(self, records)
        with self.path.open("ab") as file:
            file.write(records.tobytes()[:50])
        raise OSError(28, "No space left on device", str(self.path))

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "append", full)
        with pytest.raises(OSError, match=r"No space left on device: '.*m@noise\.records'"):
            filled([each])
    assert each.ledger.stat().st_size == 17 * ITEM + 50 - ITEM
    assert filled([each]) == {}
    require_expected(each)


def test_a_failed_write_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = record_type(CLASSES, False)

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "ascontiguousarray", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*l\.records'"):
        Ledger(tmp_path / "l.records", kind).append(np.zeros(1, kind))


def test_a_ledger_with_too_many_records_is_refused(tmp_path: Path) -> None:
    loads = Loads()
    filled([task(tmp_path, loads.model("m"), images(9))])
    with pytest.raises(InputError, match="holds records of 9 images, but noise has 8; delete it"):
        filled([task(tmp_path, loads.model("m"), images(8))])


def test_two_runs_do_not_write_one_ledger(tmp_path: Path) -> None:
    each = task(tmp_path, Loads().model("m"), images(3))
    other = Ledger(each.ledger, record_type(CLASSES, False))

    class Late(Linear):
        def outputs(self, batch: Any) -> Any:
            other.append(np.ones(2, other.kind))
            return super().outputs(batch)

    slow = replace(each, model=Loads().model("m", lambda: Late(1)))
    with pytest.raises(InputError, match=r"m@noise\.records is being written by another run"):
        filled([slow])
    assert other.done == 2
    with pytest.raises(ValueError, match="one ledger"):
        filled([each, each])


def test_libraries_are_held_to_one_thread_and_let_go(tmp_path: Path) -> None:
    seen = set()

    class Sees(Linear):
        def outputs(self, batch: Any) -> Any:
            seen.add((torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()))
            return super().outputs(batch)

    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(3)
    try:
        filled([task(tmp_path, Loads().model("m", lambda: Sees(1)), images(40))], cores=3)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before[0])
    assert seen == {(1, True)}
    assert torch.are_deterministic_algorithms_enabled() == before[1]


def test_the_bar_moves_over_all_steps_that_are_left_and_shows_accuracy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    class Bar:
        def update(self, n: int = 1) -> None:
            seen.append(n)

        def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
            seen.append(s)

    @contextmanager
    def bar(what: str, total: int, unit: str) -> Any:
        seen.append((total, unit))
        yield Bar()

    monkeypatch.setattr(runner, "bar", bar)
    of, loads = images(20), Loads()
    tasks = [task(tmp_path, loads.model(name), of) for name in ("a", "b")]
    filled(tasks[:1])
    whole = tasks[0].ledger.read_bytes()
    tasks[0].ledger.write_bytes(whole[: 5 * ITEM])
    seen.clear()
    filled(tasks)
    assert seen[0] == (35, "image")
    assert sum(step for step in seen[1:] if isinstance(step, int)) == 35
    right = [step for step in seen[1:] if isinstance(step, str)]
    for each, last in ((tasks[0], right[1]), (tasks[1], right[-1])):
        share = 100 * float(np.mean(read(each)["rank"] == 0))
        assert last == f"{each.model.name} {share:.1f}% right"


def test_off_a_terminal_lines_say_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shown, "SECONDS", 0.0)
    caplog.set_level("INFO")
    each = task(tmp_path, Loads().model("m"), images(24))
    filled([each])
    lines = [r.getMessage() for r in caplog.records if "left" in r.getMessage()]
    share = 100 * float(np.mean(read(each)["rank"] == 0))
    assert [line.partition(" steps, ")[0] for line in lines] == ["8 of 24", "16 of 24", "24 of 24"]
    assert lines[-1].endswith(f" images a second, 0:00:00 left; m {share:.1f}% right")


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_an_output_of_a_class_that_is_not_in_the_set_has_to_be_finite_too(tmp_path: Path, odd: float) -> None:
    class Wide(Linear):
        def outputs(self, batch: Any) -> Any:
            found = super().outputs(batch)
            return np.concatenate([found, np.full((len(found), 1), odd, np.float32)], axis=1)

    each = task(tmp_path, Loads().model("m", lambda: Wide(1)), images(3), range(CLASSES), CLASSES + 1)
    with pytest.raises(InputError, match="are not finite numbers"):
        raise filled([each])["m"]


def test_logits_are_kept_as_float16_and_those_beyond_its_range_are_its_ends(tmp_path: Path) -> None:
    class Large(Linear):
        def outputs(self, batch: Any) -> Any:
            found = super().outputs(batch)
            found[:, 1], found[:, 2] = 1e6, -70000
            return found

    each = task(tmp_path, Loads().model("m", lambda: Large(1)), images(9), columns=[3, 1, 2, 0, 4, 5, 6])
    assert filled([each], logits=True) == {}
    kept = read(each, logits=True)["logits"]
    assert kept.dtype == np.float16
    assert kept[:, 1].tolist() == [65504] * 9
    assert kept[:, 2].tolist() == [-65504] * 9
    exact = np.stack([Linear(1).outputs(CUT(each.images.pixels.plain(i))[None])[0] for i in range(9)])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(kept[:, [0, 3, 4]], exact[:, [3, 0, 4]].astype(np.float16))


def test_only_outputs_of_the_sets_classes_count(tmp_path: Path) -> None:
    of = images(30)

    class Wide(Linear):
        def outputs(self, batch: Any) -> Any:
            found = super().outputs(batch)
            return np.concatenate([found, np.full((len(found), 3), 1e30, np.float32)], axis=1)

    each = task(tmp_path, Loads().model("m", lambda: Wide(1)), of, columns=[6, 5, 4, 3, 2, 1, 0], outputs=10)
    assert filled([each]) == {}
    require_expected(each, Linear(1))


def test_nothing_to_do_is_done(tmp_path: Path) -> None:
    assert filled([]) == {}
    assert filled([task(tmp_path, Loads().model("m"), images(0))]) == {}
