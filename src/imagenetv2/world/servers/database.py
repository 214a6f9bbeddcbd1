"""SQLite files of the local servers: they outlive a killed server, and threads share one connection."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from imagenetv2.errors import InputError


class Database:
    """One connection under a lock; ``change`` is a transaction, committed at its end or not at all.

    Raises InputError where the file cannot be opened or made.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=30, check_same_thread=False, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            # Write-ahead with NORMAL: a killed process loses nothing that was committed.
            self._connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {schema}")
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"{path} cannot be opened ({error}); delete it, or make its folder writable, and run again."
            ) from error

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a query."""
        with self._lock:
            found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
            return found

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other thread or process interleaves with."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
