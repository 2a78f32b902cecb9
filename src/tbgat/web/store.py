"""Jobs on disk: one SQLite file, so that a restart loses no finished result."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tbgat.errors import UsageError

__all__ = ["FINISHED", "Record", "Store"]

FINISHED = ("done", "failed", "cancelled", "interrupted")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT UNIQUE NOT NULL,
  state TEXT NOT NULL,
  created REAL NOT NULL,
  finished REAL,
  request TEXT NOT NULL,
  instance BLOB NOT NULL,
  result BLOB,
  frames BLOB,
  error TEXT
);
CREATE TABLE IF NOT EXISTS traces (
  job TEXT NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  chooser TEXT NOT NULL,
  trace BLOB NOT NULL,
  PRIMARY KEY (job, chooser)
);
"""
_COLUMNS = "id, state, created, finished, request, instance, result, error"


@dataclass(frozen=True)
class Record:
    """A job as it stands in the file."""

    id: str
    state: str
    created: float
    finished: float | None
    request: dict[str, Any]
    instance: dict[str, Any]
    result: dict[str, Any] | None
    error: str | None


class Store:
    """The file. Every method is one transaction and may be called from any thread."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False)
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;" + _SCHEMA)
        except sqlite3.Error as error:
            raise UsageError(f"cannot use {os.fspath(path)} as database: {error}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._db:
            yield self._db

    def interrupt_unfinished(self) -> int:
        """Mark what an earlier service left waiting or running; say how many."""
        with self._transaction() as db:
            done = db.execute(
                "UPDATE jobs SET state='interrupted', finished=?, "
                "error='the service was stopped before this job had ended' "
                "WHERE state IN ('queued', 'running')",
                (time.time(),),
            )
            return done.rowcount

    def add(self, job: str, request: dict[str, Any], instance: dict[str, Any]) -> None:
        """Write a new job, waiting."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO jobs (id, state, created, request, instance) VALUES (?,?,?,?,?)",
                (job, "queued", time.time(), json.dumps(request), _pack(instance)),
            )

    def start(self, job: str) -> bool:
        """Mark a waiting job as running; False if it is no longer waiting."""
        with self._transaction() as db:
            done = db.execute(
                "UPDATE jobs SET state='running' WHERE id=? AND state='queued'", (job,)
            )
            return done.rowcount == 1

    def finish(
        self,
        job: str,
        state: str,
        *,
        result: dict[str, Any] | None = None,
        frames: list[dict[str, Any]] | None = None,
        error: str | None = None,
    ) -> bool:
        """Write how a job ended; False if it had ended before."""
        with self._transaction() as db:
            done = db.execute(
                "UPDATE jobs SET state=?, finished=?, result=?, frames=?, error=? "
                "WHERE id=? AND state IN ('queued', 'running')",
                (
                    state,
                    time.time(),
                    None if result is None else _pack(result),
                    None if frames is None else _pack(frames),
                    error,
                    job,
                ),
            )
            return done.rowcount == 1

    def trim(self, kept: int) -> None:
        """Forget the oldest finished jobs beyond a number."""
        with self._transaction() as db:
            db.execute(
                "DELETE FROM jobs WHERE state IN ('done','failed','cancelled','interrupted') "
                "AND number NOT IN (SELECT number FROM jobs WHERE state IN "
                "('done','failed','cancelled','interrupted') ORDER BY number DESC LIMIT ?)",
                (kept,),
            )

    def delete(self, job: str) -> bool:
        """Forget a finished job; False if it is unknown or not finished."""
        with self._transaction() as db:
            done = db.execute(
                "DELETE FROM jobs WHERE id=? AND state NOT IN ('queued','running')", (job,)
            )
            return done.rowcount == 1

    def get(self, job: str) -> Record | None:
        """Find a job."""
        with self._transaction() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id=?", (job,)).fetchone()
        return None if row is None else _record(row)

    def latest(self, count: int) -> list[Record]:
        """List the newest jobs, newest first."""
        with self._transaction() as db:
            query = f"SELECT {_COLUMNS} FROM jobs ORDER BY number DESC LIMIT ?"
            rows = db.execute(query, (count,)).fetchall()
        return [_record(row) for row in rows]

    def frames(self, job: str) -> list[dict[str, Any]]:
        """List the schedules a search found, oldest first."""
        with self._transaction() as db:
            row = db.execute("SELECT frames FROM jobs WHERE id=?", (job,)).fetchone()
        return [] if row is None or row[0] is None else _unpack(row[0])

    def trace(self, job: str, chooser: str) -> dict[str, Any] | None:
        """Find a recorded search."""
        with self._transaction() as db:
            row = db.execute(
                "SELECT trace FROM traces WHERE job=? AND chooser=?", (job, chooser)
            ).fetchone()
        return None if row is None else _unpack(row[0])

    def add_trace(self, job: str, chooser: str, trace: dict[str, Any]) -> None:
        """Keep a recorded search, unless its job is gone by now."""
        with self._transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO traces SELECT id, ?, ? FROM jobs WHERE id=?",
                (chooser, _pack(trace), job),
            )


def _pack(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode())


def _unpack(blob: bytes) -> Any:
    return json.loads(zlib.decompress(blob))


def _record(row: tuple[Any, ...]) -> Record:
    job, state, created, finished, request, instance, result, error = row
    return Record(
        job,
        state,
        created,
        finished,
        json.loads(request),
        _unpack(instance),
        None if result is None else _unpack(result),
        error,
    )
