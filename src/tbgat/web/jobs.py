"""Jobs that wait, run and end: a bounded queue in front of a few worker threads."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tbgat.errors import TbgatError
from tbgat.formats.json_text import instance_to_dict
from tbgat.instance import Instance, IntArray
from tbgat.search.callbacks import Snapshot
from tbgat.search.result import Improvement, Result
from tbgat.solvers import solve
from tbgat.web.limits import Limits
from tbgat.web.store import Store

__all__ = ["Job", "QueueFull", "Runner"]


class QueueFull(Exception):
    """As many jobs wait as may wait."""


@dataclass
class Job:
    """A job in memory: what a page that follows it is shown.

    ``version`` grows with every change, so that a follower knows when to look.
    """

    id: str
    instance: Instance
    request: dict[str, Any]
    state: str = "queued"
    version: int = 0
    step: int = 0
    seconds: float = 0.0
    best: int | None = None
    lower_bound: int = 0
    improvements: list[Improvement] = field(default_factory=list)
    frames: list[tuple[Improvement, IntArray]] = field(default_factory=list)
    starts: IntArray | None = None
    cancelled: bool = False
    error: str | None = None


class Runner:
    """Takes jobs, runs them in the order they came, writes down how they ended."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self.store = store
        self.limits = limits
        self._jobs: dict[str, Job] = {}
        self._waiting: deque[str] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._workers = [
            threading.Thread(target=self._work, name=f"tbgat-job-{n}", daemon=True)
            for n in range(limits.workers)
        ]
        store.interrupt_unfinished()
        for worker in self._workers:
            worker.start()

    def submit(self, instance: Instance, request: dict[str, Any]) -> str:
        """Queue a job and return its identifier, or raise :class:`QueueFull`."""
        job = Job(secrets.token_hex(8), instance, request)
        with self._changed:
            if self._closing or len(self._waiting) >= self.limits.queue:
                raise QueueFull
            # Written before it is queued: what was accepted is never lost.
            self.store.add(job.id, request, instance_to_dict(instance))
            self._jobs[job.id] = job
            self._waiting.append(job.id)
            self._changed.notify()
        return job.id

    def live(self, job: str) -> Job | None:
        """Find a job that waits or runs."""
        return self._jobs.get(job)

    def cancel(self, job: str) -> bool:
        """End a job: a waiting one never starts, a running one keeps its best schedule."""
        with self._changed:
            found = self._jobs.get(job)
            if found is None:
                return False
            found.cancelled = True
            if job in self._waiting:
                self._waiting.remove(job)
                self._end(found, "cancelled")
            return True

    def waiting(self) -> int:
        """How many jobs wait."""
        return len(self._waiting)

    def close(self) -> None:
        """End all jobs and wait for the workers; what still waits is marked as interrupted."""
        with self._changed:
            self._closing = True
            self._waiting.clear()
            for job in self._jobs.values():
                job.cancelled = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join(timeout=5)
        self.store.interrupt_unfinished()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if self._closing:
                    return
                job = self._jobs[self._waiting.popleft()]
            if self.store.start(job.id):
                self._run(job)

    def _run(self, job: Job) -> None:
        job.state = "running"
        job.version += 1
        ask = job.request
        try:
            result = solve(
                job.instance,
                ask["method"],
                seconds=min(ask["seconds"] or self.limits.seconds, self.limits.seconds),
                steps=ask["steps"],
                seed=ask["seed"],
                threads=ask["threads"],
                callbacks=[lambda snapshot: self._listen(job, snapshot)],
            )
        except TbgatError as error:
            self._end(job, "failed", error=str(error))
        except Exception as error:  # a worker must outlive whatever a method does
            self._end(job, "failed", error=f"the method failed: {type(error).__name__}: {error}")
        else:
            self._keep(job, result)

    def _listen(self, job: Job, snapshot: Snapshot) -> bool:
        progress = snapshot.progress
        job.step, job.seconds, job.best = progress.step, progress.seconds, progress.best
        job.lower_bound = max(job.lower_bound, progress.lower_bound)
        if snapshot.improvements:
            job.improvements.extend(snapshot.improvements)
            job.starts = snapshot.schedule().starts(job.instance)
            self._add_frame(job, snapshot.improvements[-1], job.starts)
        job.version += 1
        return job.cancelled or self._closing

    def _add_frame(self, job: Job, found: Improvement, starts: IntArray) -> None:
        job.frames.append((found, starts.astype(np.int64)))
        if len(job.frames) > self.limits.frames:
            # Every second one goes, but never the first and the newest.
            job.frames[1:-1] = job.frames[2:-1:2]

    def _keep(self, job: Job, result: Result) -> None:
        starts = result.schedule.starts(job.instance)
        if not job.frames or job.frames[-1][0].makespan != result.makespan:
            self._add_frame(job, result.history[-1], starts)
        job.step, job.seconds, job.best = result.steps, result.seconds, result.makespan
        job.lower_bound, job.starts = result.lower_bound, starts
        frames = [
            {
                "step": found.step,
                "seconds": found.seconds,
                "makespan": found.makespan,
                "start": at.tolist(),
            }
            for found, at in job.frames
        ]
        self._end(job, "done", result=_plain(result), frames=frames)

    def _end(self, job: Job, state: str, **what: Any) -> None:
        self.store.finish(job.id, state, **what)
        self.store.trim(self.limits.kept)
        job.error = what.get("error")
        job.state = state
        job.version += 1
        self._jobs.pop(job.id, None)


def _plain(result: Result) -> dict[str, Any]:
    return {
        **result.to_dict(),
        "reason": result.reason,
        "stopped": result.stopped,
        "story": result.explain().splitlines(),
        "history": [
            {"step": found.step, "seconds": found.seconds, "makespan": found.makespan}
            for found in result.history
        ],
    }
