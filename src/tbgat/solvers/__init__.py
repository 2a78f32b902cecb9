"""One call for every method: :func:`solve`, and :func:`solve_many` for a batch."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np

from tbgat.errors import UsageError
from tbgat.instance import Instance
from tbgat.schedule import Schedule
from tbgat.search.callbacks import Callback, Snapshot
from tbgat.search.result import Result
from tbgat.search.stop import Stop, stop_when
from tbgat.search.task import Outcome, Task, finish
from tbgat.solvers.registry import Method, describe_methods, find_method, method_names, register

__all__ = [
    "DEFAULT_SECONDS",
    "describe_methods",
    "make_task",
    "method_names",
    "register",
    "run_task",
    "solve",
    "solve_many",
]

DEFAULT_SECONDS = 10.0

Initial = Schedule | Sequence[Sequence[int]]


def solve(
    instance: Instance,
    method: str = "auto",
    *,
    steps: int | None = None,
    seconds: float | None = None,
    target: int | None = None,
    patience: int | None = None,
    stop: Stop | None = None,
    seed: int | None = None,
    initial: Initial | None = None,
    threads: int | None = None,
    callbacks: Iterable[Callback] = (),
    **options: Any,
) -> Result:
    """Find a short schedule and say what is proven about it.

    Parameters
    ----------
    instance
        The problem.
    method
        A name of :func:`method_names`.
    steps, seconds, target, patience
        Stop after so many steps or seconds, at this makespan, or after so many steps without a
        better schedule; whichever comes first. Without any of them the search takes ten seconds.
    stop
        A criterion of your own (see :mod:`tbgat.search.stop`), in addition.
    seed
        Same seed, same threads, same limit in steps: same result. Without one a seed is drawn and
        reported.
    initial
        A schedule, or the operation order of each machine, to start from. Never made worse.
    threads
        By default one if ``steps`` is given, so that a number of steps means the same everywhere,
        and all available cores if not.
    callbacks
        Called a few dozen times a second; one that returns ``True`` or ``"stop"`` ends the search.
    options
        What the method alone understands, such as ``rule="spt"`` for ``dispatch``.

    Returns
    -------
    Result
        With a schedule that passed the independent checker. Ctrl-C gives the best so far.
    """
    chosen = find_method(method)
    chosen.check_options(options)
    task = make_task(
        instance,
        method,
        steps=steps,
        seconds=seconds,
        target=target,
        patience=patience,
        stop=stop,
        seed=seed,
        initial=initial,
        threads=threads,
        callbacks=callbacks,
    )
    chosen.prepare()
    task = _begin(task)
    return finish(task, chosen.solve(task, **options))


def solve_many(
    instances: Iterable[Instance],
    method: str = "auto",
    *,
    seed: int | Sequence[int] | None = None,
    initial: Iterable[Initial] | None = None,
    threads: int | None = None,
    callbacks: Iterable[Callback] = (),
    **limits_and_options: Any,
) -> list[Result]:
    """Solve many instances, each within the given limits, spread over the threads.

    Takes what :func:`solve` takes; instance ``i`` has the seed ``seed + i``, or ``seed[i]`` of a
    list, and, except for methods that work on a whole batch at once, the same result as if solved
    alone on one thread. Callbacks are never called twice at a time. Ctrl-C gives the best so far of
    every instance.
    """
    listed = list(instances)
    starts: list[Initial | None] = [None] * len(listed) if initial is None else list(initial)
    if len(starts) != len(listed):
        raise UsageError(f"{len(starts)} initial schedules for {len(listed)} instances")
    chosen = find_method(method)
    names = ("steps", "seconds", "target", "patience", "stop")
    limits = {name: limits_and_options.pop(name, None) for name in names}
    chosen.check_options(limits_and_options)
    workers = _thread_count(threads, limits["steps"])
    if isinstance(seed, Sequence):
        seeds = [_seed(one) for one in seed]
        if len(seeds) != len(listed):
            raise UsageError(f"{len(seeds)} seeds for {len(listed)} instances")
    else:
        first = _seed(seed)
        seeds = [first + number for number in range(len(listed))]
    heard = _one_at_a_time(callbacks)
    cancelled = threading.Event()
    tasks = [
        replace(
            make_task(
                instance,
                method,
                **limits,
                seed=seeds[number],
                initial=start,
                threads=workers if chosen.solve_many else 1,
                callbacks=heard,
            ),
            cancelled=cancelled,
        )
        for number, (instance, start) in enumerate(zip(listed, starts, strict=True))
    ]
    chosen.prepare()
    if chosen.solve_many is not None:
        begun = [_begin(task) for task in tasks]
        outcomes = chosen.solve_many(begun, **limits_and_options)
        return [finish(task, found) for task, found in zip(begun, outcomes, strict=True)]
    return _spread(chosen, tasks, workers, limits_and_options)


def make_task(
    instance: Instance,
    method: str,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    target: int | None = None,
    patience: int | None = None,
    stop: Stop | None = None,
    seed: int | None = None,
    initial: Initial | None = None,
    threads: int | None = None,
    callbacks: Iterable[Callback] = (),
) -> Task:
    """Check the arguments of :func:`solve` and fill in what was left out."""
    from tbgat.bounds import lower_bound
    from tbgat.dispatching import dispatch

    if stop is None and all(limit is None for limit in (steps, seconds, target, patience)):
        seconds = DEFAULT_SECONDS
    criterion = stop_when(steps=steps, seconds=seconds, target=target, patience=patience)
    chosen_seed = _seed(seed)
    warm = _warm_start(instance, initial)
    return Task(
        instance=instance,
        method=method,
        stop=criterion if stop is None else criterion | stop,
        seed=chosen_seed,
        start=dispatch(instance, rng=_start_rng(chosen_seed)) if warm is None else warm,
        initial=warm,
        lower_bound=lower_bound(instance),
        threads=_thread_count(threads, steps),
        callbacks=tuple(callbacks),
    )


def run_task(task: Task, method: str, **options: Any) -> Outcome:
    """Solve a task with another method: how one method uses another."""
    chosen = find_method(method)
    chosen.prepare()
    return chosen.solve(task, **options)


def _begin(task: Task) -> Task:
    """Start the clock."""
    return replace(task, started=time.perf_counter())


def _spread(
    chosen: Method, tasks: Sequence[Task], workers: int, options: dict[str, Any]
) -> list[Result]:
    def one(task: Task) -> Result:
        task = _begin(task)
        return finish(task, chosen.solve(task, **options))

    with ThreadPoolExecutor(max(1, min(workers, len(tasks)))) as pool:
        running = [pool.submit(one, task) for task in tasks]
        try:
            wait(running)
        except KeyboardInterrupt:
            for task in tasks:
                task.cancelled.set()
        return [future.result() for future in running]


def _warm_start(instance: Instance, initial: Initial | None) -> Schedule | None:
    if initial is None:
        return None
    if isinstance(initial, Schedule):
        initial.check(instance)
        return initial
    return Schedule.from_machine_orders(instance, initial)


def _thread_count(threads: int | None, steps: int | None) -> int:
    if threads is None:
        return 1 if steps is not None else _cores()
    if threads < 1:
        raise UsageError(f"threads must be 1 or more, got {threads}")
    return int(threads)


def _cores() -> int:
    # The affinity mask knows of containers and taskset, but only Linux has it.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(31)
    if seed < 0:
        raise UsageError(f"a seed must be 0 or more, got {seed}")
    return int(seed)


def _start_rng(seed: int) -> np.random.Generator:
    # A stream of its own: how ties are broken in the start says nothing about the search.
    return np.random.default_rng([seed, 2**31])


def _one_at_a_time(callbacks: Iterable[Callback]) -> tuple[Callback, ...]:
    lock = threading.Lock()

    def locked(callback: Callback) -> Callback:
        def call(snapshot: Snapshot) -> Any:
            with lock:
                return callback(snapshot)

        return call

    return tuple(locked(callback) for callback in callbacks)
