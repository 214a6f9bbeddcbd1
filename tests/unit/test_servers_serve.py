"""Starting and ending the local servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.job import Endpoints
from imagenetv2.world.servers.serve import PARTS, running

from .small_world import make_world, photo

PROGRAM = """
import sys
from pathlib import Path
from imagenetv2.artifacts import Artifact
from imagenetv2.world.servers.serve import serve
from imagenetv2.world.settings import People

if __name__ == "__main__":
    base = Path(sys.argv[1])
    serve(Artifact(base / "world"), seed=1, people=People(), data=base, version="v", ready=base / "run/ready.json",
          port=0, parts=set(sys.argv[2].split(",")))
"""


@pytest.fixture
def world(tmp_path: Path) -> Artifact:
    return make_world(tmp_path / "world", [photo(1)])


def wait_ready(folder: Path) -> Endpoints:
    for _ in range(600):
        if (folder / "run/ready.json").exists():
            return Endpoints.read(folder / "run/ready.json")
        time.sleep(0.05)
    raise AssertionError("the servers did not get ready within 30 seconds")


def listens(url: str) -> bool:
    try:
        requests.get(url, timeout=5)
    except requests.ConnectionError:
        return False
    return True


def test_serves_until_it_is_told_to_stop(world: Artifact, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, program, tmp_path, ",".join(PARTS)]) as process:
        endpoints = wait_ready(tmp_path)
        assert set(json.loads((tmp_path / "run/ready.json").read_text())) == {
            "flickr", "photos", "mturk", "s3", "pages",
        }  # fmt: skip
        assert requests.get(f"{endpoints.photos}/images/photo_unavailable.png", timeout=10).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    assert not listens(str(endpoints.flickr))
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["ready.json"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_ends_when_whoever_started_it_is_killed(world: Artifact, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = f'"{sys.executable}" "{program}" "{tmp_path}" host; true'
    starter = "import subprocess, sys; subprocess.run(['/bin/sh', '-c', sys.argv[1]])"
    with subprocess.Popen([sys.executable, "-c", starter, command]) as process:
        endpoints = wait_ready(tmp_path)
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(400):
        if not listens(str(endpoints.s3)):
            return
        time.sleep(0.05)
    raise AssertionError("the servers are still there 20 seconds later")


def test_a_port_in_use_is_refused(world: Artifact, tmp_path: Path) -> None:
    with running(world, seed=1, data=tmp_path, version="v", parts={"photos"}) as endpoints:
        port = int(str(endpoints.photos).rpartition(":")[2])
        again = running(world, seed=1, data=tmp_path, version="v", port=port)
        with pytest.raises(InputError, match=rf"world\.port: port {port} .* set world\.port to 0"), again:
            pass


def test_unknown_parts_and_unusable_folders_are_refused(world: Artifact, tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="there is no flicker; choose from flickr,"),
        running(world, seed=1, data=tmp_path, version="v", parts={"flicker"}),
    ):
        pass
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"host\.sqlite cannot be opened"),
        running(world, seed=1, data=tmp_path / "file", version="v", parts={"host"}),
    ):
        pass
    (tmp_path / "stores/world/v").mkdir(parents=True)
    (tmp_path / "stores/world/v/mturk.sqlite").write_text("this is no database, not at all" * 99)
    with (
        pytest.raises(InputError, match=r"mturk\.sqlite cannot be opened .*delete it"),
        running(world, seed=1, data=tmp_path, version="v", parts={"mturk"}),
    ):
        pass


def test_oversized_and_unmeasured_bodies_are_refused(world: Artifact, tmp_path: Path) -> None:
    with running(world, seed=1, data=tmp_path, version="v", parts={"host"}) as endpoints:
        answer = requests.put(f"{endpoints.s3}/b/k", data=iter([b"x"]), timeout=10)
        assert answer.status_code == 411
