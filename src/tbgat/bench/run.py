"""Do what is missing of a plan, job by job, and write a record of every run."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tbgat import library
from tbgat.bench.card import environment_card
from tbgat.bench.locks import claim_cores
from tbgat.bench.plan import Job
from tbgat.bench.progress import Progress
from tbgat.bench.records import Record, Store, thin
from tbgat.solvers import solve, solve_many
from tbgat.solvers.registry import find_method

__all__ = ["measure", "run_job"]

WARM_UP_SECONDS = 0.3


def measure(jobs: Sequence[Job], folder: Path, *, fresh: bool = False, quiet: bool = False) -> int:
    """Run the jobs that have no record in a folder yet, and say how many runs that were.

    Parameters
    ----------
    fresh
        Measure all of them again, and forget what was recorded of them.
    """
    with Store(folder) as store:
        keys = [{record.key for record in job.blanks()} for job in jobs]
        if fresh:
            store.drop(key for some in keys for key in some)
        missing = [job for job, some in zip(jobs, keys, strict=True) if some - store.keys]
        bar = Progress(missing, done=sum(len(k) for k in keys if k <= store.keys), quiet=quiet)
        if not missing:
            bar.close()
            return 0
        card = environment_card()
        commit = card.pop("commit")
        for entry in ("date", "seeds"):
            card.pop(entry)
        name = store.add_card(card)
        added = 0
        warm: set[tuple[str, str]] = set()
        with claim_cores(max(job.threads for job in missing), waiting=bar.wait):
            if any(job.budget.seconds is not None for job in missing):
                bar.warn_if_busy()
            for job in missing:
                bar.show(job)
                if job.budget.seconds is not None and (who := _who(job)) not in warm:
                    _warm_up(job)
                    warm.add(who)
                find_method(job.method.name).prepare()
                begun = time.perf_counter()
                added += store.append(
                    replace(record, commit=commit, card=name) for record in run_job(job)
                )
                bar.advance(job, time.perf_counter() - begun)
        bar.close()
        return added


def _who(job: Job) -> tuple[str, str]:
    return job.method.name, str(job.method.options)


def _warm_up(job: Job) -> None:
    """Solve something else first, so that what a method loads or compiles late is not timed."""
    for name in ("ft06", "la16"):
        solve(
            library.load(name),
            job.method.name,
            seconds=WARM_UP_SECONDS,
            seed=0,
            threads=job.threads,
            **job.method.options,
        )


def run_job(job: Job) -> list[Record]:
    """Run one job; Ctrl-C ends it without a record, for what it found has no full budget."""
    limits: dict[str, Any] = {"steps": job.budget.steps, "seconds": job.budget.seconds}
    find_method(job.method.name).prepare()
    cpu, begun = time.process_time(), time.perf_counter()
    if len(job.cases) == 1:
        results = [
            solve(
                job.cases[0].instance,
                job.method.name,
                **limits,
                seed=job.seed,
                threads=job.threads,
                **job.method.options,
            )
        ]
        seconds = results[0].seconds
    else:
        results = solve_many(
            [case.instance for case in job.cases],
            job.method.name,
            seed=[job.seed] * len(job.cases),
            threads=job.threads,
            **limits,
            **job.method.options,
        )
        seconds = time.perf_counter() - begun
    cpu = time.process_time() - cpu
    if any(result.stopped == "interrupt" for result in results):
        raise KeyboardInterrupt
    finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return [
        replace(
            blank,
            makespan=result.makespan,
            lower_bound=result.lower_bound,
            status=result.status,
            steps=result.steps,
            seconds=round(seconds, 4),
            cpu_seconds=round(cpu, 4),
            history=thin(result.history, "step" if job.budget.steps else "seconds"),
            finished=finished,
        )
        for blank, result in zip(job.blanks(), results, strict=True)
    ]
