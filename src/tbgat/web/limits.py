"""What one service lets its users ask for, all of it in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tbgat.errors import UsageError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Upper bounds of the service.

    Attributes
    ----------
    queue
        Jobs that may wait; one more is refused.
    workers
        Jobs that run at a time.
    threads
        Threads one job may use.
    seconds
        Longest search, whatever else stops it.
    upload_bytes
        Largest body of a request.
    operations
        Largest instance.
    kept
        Finished jobs that are kept; the oldest go first.
    frames
        Schedules kept of one search, thinned out evenly when it finds more.
    trace_steps
        Longest search that is recorded move by move.
    streams
        Pages that may follow searches at a time.
    """

    queue: int = 20
    workers: int = 2
    threads: int = 2
    seconds: float = 600.0
    upload_bytes: int = 2_000_000
    operations: int = 20_000
    kept: int = 200
    frames: int = 240
    trace_steps: int = 2000
    streams: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise UsageError(f"the limit {field.name} must be more than 0, got {value}")
