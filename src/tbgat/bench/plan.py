"""What is to be run: methods with options, budgets and seeds, cut into jobs in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tbgat.bench.records import Record
from tbgat.bench.suites import Case
from tbgat.errors import UsageError
from tbgat.solvers.registry import find_method, option_value

__all__ = [
    "STEPLESS",
    "STEPWISE",
    "Budget",
    "Job",
    "MethodSpec",
    "is_timewise",
    "parse_method",
    "plan",
]

# These build one schedule and make no steps.
STEPLESS = frozenset({"dispatch"})

# These make the same moves whatever the budget: their longest run holds all shorter ones.
STEPWISE = STEPLESS | {"random", "greedy", "tabu", "tbgat"}

# These do the same whatever time they have, and tell of every improvement.
TIMEWISE = STEPWISE | {"tspr", "cpsat", "pyjobshop"}

# Instances a method with a batched search gets at once. Fixed, for a network's rounding (and so its
# choice) may depend on what it computes side by side.
BATCH = 20


@dataclass(frozen=True)
class MethodSpec:
    """A method and the options it is called with."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Budget:
    """A limit in steps or in seconds."""

    steps: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Job:
    """What is run in one go: one instance, or a batch for a method that takes batches."""

    cases: tuple[Case, ...]
    method: MethodSpec
    budget: Budget
    threads: int
    seed: int

    def blanks(self) -> list[Record]:
        """Make the records of this job, with everything but the results."""
        method = find_method(self.method.name)
        return [
            Record(
                suite=case.suite,
                group=case.group,
                instance=case.instance.name,
                digest=case.instance.digest,
                method=self.method.name,
                options=self.method.options,
                weights=method.weights(case.instance, self.method.options),
                max_steps=self.budget.steps,
                max_seconds=self.budget.seconds,
                threads=self.threads,
                seed=self.seed,
                batch=len(self.cases),
            )
            for case in self.cases
        ]


def parse_method(text: str) -> MethodSpec:
    """Read a method as on the command line: ``tabu`` or ``dispatch:rule=spt``."""
    name, *pairs = text.strip().split(":")
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"in method {text!r}, {pair!r} should be option=value")
        options[key] = option_value(value)
    find_method(name).check_options(options)
    return MethodSpec(name, options)


def is_timewise(method: str, threads: int) -> bool:
    """Whether a long run of the method, read at fewer seconds, is what a short one would be.

    Not so ``auto`` on one thread, which divides its time.
    """
    return method in TIMEWISE or (method == "auto" and threads > 1)


def plan(
    cases: Sequence[Case],
    methods: Sequence[MethodSpec],
    *,
    steps: Iterable[int] = (),
    seconds: Iterable[float] = (),
    seeds: int = 1,
    step_threads: int = 1,
    second_threads: int = 1,
    single: bool = False,
) -> list[Job]:
    """Cut a measurement into jobs.

    Of a :data:`STEPWISE` method only the largest number of steps is run: its history holds the
    others. So it is with seconds and :func:`is_timewise`. Timed runs go one at a time, the methods
    in turn on every instance so that a disturbance of the machine meets them all.

    Parameters
    ----------
    single
        Solve one instance at a time even where the method takes batches, to know the time of one.
    """
    step_budgets = sorted(set(steps))
    second_budgets = sorted(set(seconds))
    if not step_budgets and not second_budgets:
        raise UsageError("give a budget: --steps or --seconds")
    for value in (*step_budgets, *second_budgets):
        if value <= 0:
            raise UsageError(f"a budget must be above 0, got {value}")
    jobs: list[Job] = []
    for seed in range(seeds):
        for method in methods:
            budgets = step_budgets[-1:] if method.name in STEPWISE else step_budgets
            whole = not single and find_method(method.name).solve_many is not None
            for budget in budgets:
                jobs += [
                    Job(batch, method, Budget(steps=budget), step_threads, seed)
                    for batch in _batches(cases, BATCH if whole else 1)
                ]
        jobs += [
            Job((case,), method, Budget(seconds=budget), second_threads, seed)
            for budget in second_budgets
            for case in cases
            for method in methods
            if budget == second_budgets[-1] or not is_timewise(method.name, second_threads)
        ]
    return jobs


def _batches(cases: Sequence[Case], size: int) -> Iterator[tuple[Case, ...]]:
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.suite, case.group), []).append(case)
    for group in groups.values():
        for start in range(0, len(group), size):
            yield tuple(group[start : start + size])
