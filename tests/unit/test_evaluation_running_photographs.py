"""Real networks on real photographs: image by image what PyTorch says directly, however they are run."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import Resources, Task
from tests.unit.direct_torch import directly, photographs
from tests.unit.evaluation_photographs import KINDS, chosen, labelled, tasks

pytestmark = pytest.mark.packs
LOG = logging.getLogger("test")
ROOT = Path(__file__).parent.parent.parent
KIND = record_type(1000, False)


@pytest.fixture(scope="module")
def whole(packs: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    """All photographs and networks in one run."""
    done = tasks(tmp_path_factory.mktemp("whole"), labelled(photographs(packs)))
    assert run(done, Resources(cores=2), LOG) == {}
    return done


def records(done: Task) -> Any:
    return Ledger(done.ledger, KIND).read()


def require_direct(done: Task, packs: Path, atol: float = 2e-6) -> None:
    """The tolerance is for float32 sums in another order, and for probabilities rounded to six digits."""
    wanted = directly(photographs(packs), done.model.name).set_index("file").loc[list(done.images.ids)]
    found = records(done)
    assert found["rank"].tolist() == wanted["rank"].tolist()
    assert found["top5"].tolist() == wanted["top5"].tolist()
    np.testing.assert_allclose(found["probability"], wanted["probability"], rtol=0, atol=atol)
    np.testing.assert_allclose(found["top_probability"], wanted["top_probability"], rtol=0, atol=atol)


def test_all_networks_on_all_photographs_are_pytorchs_image_by_image(whole: list[Task], packs: Path) -> None:
    for done in whole:
        require_direct(done, packs)
        assert len(records(done)) == 100
        assert 0.75 <= np.mean(records(done)["rank"] == 0) <= 0.95
    # Each network has an input size of its own.
    assert sorted(whole[0].images.pixels.decoded) == sorted(list(range(100)) * 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "how",
    [
        {"cores": 1, "memory": 1},
        {"cores": 3, "memory": 24 * 3 * 224 * 224},
    ],
)
def test_no_bit_depends_on_workers_memory_or_order(
    whole: list[Task], packs: Path, tmp_path: Path, how: dict[str, Any]
) -> None:
    files = photographs(packs)
    places = list(range(60, 20, -7))
    done = tasks(tmp_path, labelled([files[i] for i in places]), KINDS[:2][::-1])
    assert run(done, Resources(**how), LOG) == {}
    for each, other in zip(done, whole[:2][::-1], strict=True):
        assert np.array_equal(records(each), records(other)[places])


@pytest.mark.parametrize("batch", [1, 7, 32])
def test_batches_of_other_sizes_on_several_devices_agree(
    whole: list[Task], packs: Path, tmp_path: Path, batch: int
) -> None:
    done = tasks(tmp_path, labelled(photographs(packs)[::10]), KINDS[:2])
    assert run(done, Resources(("cuda:0", "cuda:1"), cores=2, batch=batch), LOG) == {}
    for each, other in zip(done, whole[:2], strict=True):
        found, wanted = records(each), records(other)[::10]
        assert np.array_equal(found["rank"], wanted["rank"])
        assert np.array_equal(found["top5"], wanted["top5"])
        for name in ("probability", "top_probability"):
            np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-5)


def test_a_killed_run_goes_on_at_the_image(whole: list[Task], packs: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.unit.evaluation_photographs", str(packs), str(tmp_path)]
    killed = subprocess.Popen(program, cwd=ROOT, stderr=subprocess.DEVNULL)
    of = labelled(chosen(packs))
    done = tasks(tmp_path, of)
    first = done[0].ledger
    while killed.poll() is None and not (first.exists() and first.stat().st_size >= 8 * KIND.itemsize):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    there = [Ledger(each.ledger, KIND).done for each in done]
    assert 8 <= there[0] <= len(of.ids)
    assert there[2] < len(of.ids)
    assert run(done, Resources(cores=2), LOG) == {}
    for each, other in zip(done, whole, strict=True):
        assert np.array_equal(records(each), records(other)[:: 100 // len(of.ids)])
    assert len(of.pixels.decoded) == 3 * len(of.ids) - sum(there)  # type: ignore[attr-defined]
