"""HTTP on loopback: one listening socket, requests handed to the service whose path they begin with."""

from __future__ import annotations

import json
import logging
import socketserver
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from imagenetv2.errors import InputError

LOG = logging.getLogger(__name__)
HOST = "127.0.0.1"
LARGEST_BODY = 64 * 2**20


@dataclass(frozen=True)
class Request:
    """A request; ``path`` is still percent-encoded, ``query`` is the raw part after the question mark."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes

    def form(self) -> list[tuple[str, str]]:
        """Fields of the query and of a form in the body, in order, empty ones too."""
        fields = parse_qsl(self.query, keep_blank_values=True)
        if self.headers.get_content_type() == "application/x-www-form-urlencoded":
            fields += parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True)
        return fields


@dataclass(frozen=True)
class Response:
    """A response; ``length`` replaces the length of ``body`` where only headers are asked for."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None

    @classmethod
    def json(cls, value: Any, status: int = 200, content_type: str = "application/json") -> Response:
        """A JSON document."""
        return cls(status, json.dumps(value, ensure_ascii=False).encode(), content_type)


Service = Callable[[Request], Response]


class Server(ThreadingHTTPServer):
    """Listens at once on 127.0.0.1; serves in ``serve_forever``. A thread a connection.

    Raises InputError where ``port`` is in use. ``routes`` pairs path prefixes with services; the first
    that fits answers.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, routes: list[tuple[str, Service]] | None = None) -> None:
        self.routes = routes or []
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"world.port: port {port} cannot be used on {HOST} ({error}); "
                "set world.port to 0 to take any free one."
            ) from error

    @property
    def url(self) -> str:
        """Base address, without a slash at the end."""
        return f"http://{HOST}:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Bind without the reverse look-up of HTTPServer, which can take seconds without a name server."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are no news."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError | ValueError):
            LOG.error("connection of %s failed", client_address, exc_info=error)

    def answer(self, request: Request) -> Response:
        """The answer of the first service whose prefix fits; 404 where none does, 500 where it fails."""
        for prefix, service in self.routes:
            if request.path.startswith(prefix):
                try:
                    return service(request)
                except Exception:
                    LOG.exception("%s %s failed", request.method, request.path)
                    return Response(500, b"Internal server error\n")
        return Response(404, b"Nothing is served here\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536
    server: Server

    def handle_expect_100(self) -> bool:
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def _respond(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self._send(Response(411, b"A Content-Length of at most 64 MiB is required\n"))
            return
        parts = urlsplit(self.path)
        body = self.rfile.read(int(length)) if int(length) else b""
        self._send(self.server.answer(Request(self.command, parts.path, parts.query, self.headers, body)))

    def _send(self, response: Response) -> None:
        self.send_response_only(response.status)
        size = len(response.body) if response.length is None else response.length
        if response.status != 204:
            self.send_header("Content-Length", str(size))
            self.send_header("Content-Type", response.content_type)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _respond

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged one by one."""
