"""The workers' side of the local Mechanical Turk: a website on which they find, accept and submit tasks.

Only ``/mturk/externalSubmit`` is the real website's; a real worker does the rest in a browser.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from imagenetv2.world.servers.dispatch import Request, Response
from imagenetv2.world.servers.hit import RefusedError
from imagenetv2.world.servers.marketplace import Marketplace
from imagenetv2.world.servers.questions import answers, external_url

PREFIX = "/mturk/"


class Workplace:
    """Answers GET /mturk/work and POST /mturk/accept, /mturk/return and /mturk/externalSubmit."""

    def __init__(self, marketplace: Marketplace) -> None:
        self._market = marketplace

    def __call__(self, request: Request) -> Response:
        """JSON or a page; 409 where the marketplace refuses, 405 for another method."""
        fields = request.form()
        given = dict(fields)
        action = request.path.removeprefix(PREFIX)
        if request.method != ("GET" if action == "work" else "POST"):
            return Response(405, b"Method not allowed\n")
        try:
            if action == "work":
                return self._work(request.headers.get("Host", ""))
            if action == "accept":
                assignment = self._market.accept(given.get("hitId", ""), given.get("workerId", ""))
                return Response.json({"assignmentId": assignment})
            if action == "return":
                self._market.give_back(given.get("assignmentId", ""))
                return Response.json({})
            if action == "externalSubmit":
                if set(given) <= {"assignmentId"}:
                    # The real website refuses a form that says nothing but whose it is.
                    return Response(400, b"There was a problem submitting your results for this HIT.\n")
                self._market.submit(given.get("assignmentId", ""), answers(fields))
                return Response(200, b"<html><body>Thank you.</body></html>", "text/html")
        except RefusedError as error:
            return Response(409, f"{error}\n".encode())
        return Response(404, b"Not Found\n")

    def _work(self, host: str) -> Response:
        return Response.json(
            [
                {
                    "hitId": hit.hit_id,
                    "token": hit.token,
                    "url": _moved(external_url(str(hit.request["Question"])), host),
                    "places": hit.places,
                    "workers": workers,
                }
                for hit, workers in self._market.open_hits()
            ]
        )


def _moved(url: str, host: str) -> str:
    """The address on this server, whose port may be another than that of the run that published the task."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=host)) if host and parts.hostname == "127.0.0.1" else url
