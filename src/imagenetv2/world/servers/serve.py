"""All local servers of an embedded world in one process, and its people in another."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from imagenetv2 import atomically
from imagenetv2.archive import Reader
from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.job import Endpoints
from imagenetv2.world.servers.dispatch import Server, Service
from imagenetv2.world.servers.parents import guardians
from imagenetv2.world.settings import People

LOG = logging.getLogger("imagenetv2")
PARTS = ("flickr", "photos", "mturk", "host", "people")
POLL = 0.2
"""Seconds between two looks at whether the parent process lives."""


def serve(
    world: Artifact,
    *,
    seed: int,
    people: People,
    data: Path,
    version: str,
    ready: Path,
    port: int,
    parts: set[str],
) -> None:
    """Serve on 127.0.0.1 until SIGTERM, SIGINT or the death of the parent process.

    Args:
        world: artifact of the stage ``world``.
        seed, people: decide what the simulated workers answer.
        data, version: state is kept in ``<data>/stores/world/<version>/``.
        ready: JSON file of the ``Endpoints``, written once the servers listen.
        port: 0 takes any free one.
        parts: which of ``PARTS``; the addresses of others answer 404.

    Raises InputError for a port in use, an unknown part, a world that isn't there and a folder not writable.
    """
    stop, guarded = threading.Event(), guardians()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with running(world, seed=seed, data=data, version=version, port=port, parts=parts) as endpoints:
        process = None
        if "people" in parts:
            process = multiprocessing.get_context("spawn").Process(
                target=_people, args=(world, seed, people, endpoints.mturk), daemon=True
            )
            process.start()
        _announce(ready, endpoints)
        LOG.info("the embedded world listens at %s", endpoints.flickr)
        while not stop.wait(POLL) and guardians() == guarded:
            if process is not None and not process.is_alive():
                LOG.error("the simulated workers have died (exit code %s)", process.exitcode)
                process = None
        if process is not None:
            process.kill()
            process.join()


@contextmanager
def running(
    world: Artifact,
    *,
    seed: int,
    data: Path,
    version: str,
    port: int = 0,
    parts: set[str] | None = None,
    faults: Mapping[int, str] | None = None,
) -> Iterator[Endpoints]:
    """The servers, without people, in a thread of this process; ``faults`` as for ``Flickr``."""
    parts = set(PARTS) if parts is None else parts
    unknown = sorted(parts - set(PARTS))
    if unknown:
        raise InputError(f"parts: there is no {unknown[0]}; choose from {', '.join(PARTS)}.")
    with ExitStack() as stack:
        server = Server(port)
        stack.callback(server.server_close)
        server.routes = _routes(world, seed, data / "stores" / "world" / version, parts, faults, stack)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        base = server.url
        # Flickr's and Mechanical Turk's paths are the real ones; S3 signs whatever path it is given.
        yield Endpoints(flickr=base, photos=base, mturk=base, s3=f"{base}/s3", pages=f"{base}/pages")


def _routes(
    world: Artifact,
    seed: int,
    store: Path,
    parts: set[str],
    faults: Mapping[int, str] | None,
    stack: ExitStack,
) -> list[tuple[str, Service]]:
    """Path prefixes and services, the longest first; imports only what is served."""
    routes: list[tuple[str, Service]] = []
    if parts & {"flickr", "photos"}:
        from imagenetv2.world.servers.flickr import Flickr
        from imagenetv2.world.servers.photographs import photographs
        from imagenetv2.world.servers.photos import Photos

        held = photographs(world.table("photos"))
        if "flickr" in parts:
            routes.append(("/services/rest", Flickr(held, faults)))
        if "photos" in parts:
            photos = Photos(held, Reader(world.path("photos.zip")))
            routes += [("/65535/", photos), ("/images/", photos)]
    if "host" in parts:
        from imagenetv2.world.servers.host import Host

        host = Host(store / "host.sqlite")
        stack.callback(host.close)
        routes += [("/s3/", host.rest), ("/pages/", host.website)]
    if "mturk" in parts:
        from imagenetv2.world.servers.marketplace import Marketplace
        from imagenetv2.world.servers.mturk import MTurk
        from imagenetv2.world.servers.workplace import PREFIX, Workplace

        marketplace = Marketplace(store / "mturk.sqlite", seed)
        stack.callback(marketplace.close)
        routes += [(PREFIX, Workplace(marketplace)), ("/", MTurk(marketplace))]
    return routes


def _people(world: Artifact, seed: int, people: People, site: str) -> None:
    """The process of the simulated workers; ends with the servers' process."""
    from imagenetv2.world.servers.people import Crowd
    from imagenetv2.world.servers.recognition import gallery
    from imagenetv2.world.servers.votes import pool

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop, parent = threading.Event(), os.getppid()

    def watch() -> None:
        while not stop.wait(POLL):
            if os.getppid() != parent:
                os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    Crowd(site, pool(seed, people, world.table("truth")), gallery(world)).run(stop)


def _announce(ready: Path, endpoints: Endpoints) -> None:
    try:
        ready.parent.mkdir(parents=True, exist_ok=True)
        atomically.write_bytes(ready, json.dumps(asdict(endpoints)).encode() + b"\n")
    except OSError as error:
        raise InputError(f"{ready} cannot be written ({error}); name a file in a writable folder.") from error
