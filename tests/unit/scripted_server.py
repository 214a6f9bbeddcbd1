"""A server on loopback that answers each request as a test says: for faults that a real service has."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl


@dataclass
class Reply:
    """``length`` is the Content-Length claimed; ``drop`` hangs up without an answer."""

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    drop: bool = False

    @classmethod
    def json(cls, value: Any) -> Reply:
        return cls(body=json.dumps(value).encode())


@dataclass
class Asked:
    """One request."""

    path: str
    form: dict[str, str]
    headers: dict[str, str]


@dataclass
class Scripted:
    """``url`` to call, and what was asked so far."""

    url: str
    asked: list[Asked]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, *_: Any) -> None:
        pass


@contextmanager
def scripted(answer: Callable[[Asked, int], Reply]) -> Iterator[Scripted]:
    """Serve ``answer(request, number of requests to that path before)``."""
    asked: list[Asked] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 65536

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = Asked(self.path, dict(parse_qsl(body.decode())), dict(self.headers))
            with lock:
                before = sum(a.path == self.path for a in asked)
                asked.append(request)
            reply = answer(request, before)
            if reply.drop:
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)
            if reply.length is not None:
                self.close_connection = True

        do_GET = do_POST = _any

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Scripted(f"http://127.0.0.1:{server.server_address[1]}", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time, self.sleeps = 1_000_000.0, list[float]()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds
