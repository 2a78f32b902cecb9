"""From records to the figures of a table: gaps to the bounds of today, their spread, the time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tbgat import library
from tbgat.bench.plan import STEPLESS, STEPWISE, is_timewise
from tbgat.bench.published import PAPER_REFERENCES
from tbgat.bench.records import Record
from tbgat.bench.suites import SUITES, pools
from tbgat.library.sets import load_set
from tbgat.search.result import relative_gap

__all__ = ["Run", "Score", "Scores", "Series", "columns_of", "group_sizes"]

# A group with more references than this beaten by its own runs has no good references yet.
MANY = 0.1

# Rows of tables, and who is compared with whom: ours first.
ORDER = ("tbgat", "auto", "tspr", "tabu", "greedy", "random", "dispatch", "cpsat", "pyjobshop")

USUAL_SECONDS = (1.0, 5.0, 20.0, 60.0)


@dataclass(frozen=True, order=True)
class Series:
    """A method at a budget: a row of a table."""

    method: str
    steps: int | None = None
    seconds: float | None = None

    @property
    def stepless(self) -> bool:
        """Whether the method takes no notice of a budget."""
        return self.method.partition(":")[0] in STEPLESS

    @property
    def name(self) -> str:
        """As the paper writes it, such as ``tabu-500``; with a unit for seconds."""
        if self.stepless:
            return self.method
        budget = f"{self.steps}" if self.seconds is None else f"{self.seconds:g} s"
        return f"{self.method}-{budget}"


@dataclass(frozen=True)
class Run:
    """What a series found on one instance with one seed."""

    record: Record
    makespan: int
    seconds: float
    reference: int

    @property
    def gap(self) -> float:
        """Percent above the reference of today."""
        return 100 * relative_gap(self.makespan, self.reference)

    @property
    def least_gap(self) -> float:
        """Gap that no schedule of the instance can be below, by the bounds known today."""
        bound = max(_bounds().get(self.record.digest, 0), self.record.lower_bound)
        return 100 * relative_gap(bound, self.reference)

    @property
    def paper_gap(self) -> float:
        """Percent above the paper's reference."""
        reference = PAPER_REFERENCES.get(self.record.instance, self.reference)
        return 100 * relative_gap(self.makespan, reference)


@dataclass(frozen=True)
class Score:
    """A series on a group.

    Attributes
    ----------
    gap, paper_gap
        Mean percent above the references of today, and above the paper's.
    spread
        Standard deviation of the mean gap from seed to seed; None with one seed.
    seconds
        Mean time of an instance.
    batched
        Whether that time is a share of the time of a batch.
    complete
        Whether every instance of the group is in it.
    read_out
        Whether a longer run was read at fewer seconds.
    settled
        Whether the group's references are good: few were beaten by these very runs.
    """

    gap: float
    paper_gap: float
    spread: float | None
    seconds: float
    batched: bool
    instances: int
    seeds: int
    complete: bool
    read_out: bool
    settled: bool


class Scores:
    """All that records say, by series."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)
        self._sizes = group_sizes(self.records)
        self._best: dict[str, int] = {}
        for record in self.records:
            before = self._best.get(record.digest, record.makespan)
            self._best[record.digest] = min(before, record.makespan)
        self.beaten = {
            r.instance for r in self.records if r.makespan < _references().get(r.digest, 0)
        }
        self._unsettled = {
            group
            for group in self._sizes
            if len({r.instance for r in self.records if group in columns_of(r)} & self.beaten)
            > MANY * self._sizes[group]
        }

    def reference(self, record: Record) -> int:
        """Best makespan known today of a record's instance, these records included.

        Of the library and the shipped sets it is known by the instance's numbers, whatever the file
        was called; of any other instance only these records tell.
        """
        best = self._best[record.digest]
        return min(_references().get(record.digest, best), best)

    def labels(self, *, timed: bool) -> list[str]:
        """Methods with runs limited in seconds (``timed``) or in steps, in a fixed order."""
        found = {r.label for r in self.records if (r.max_seconds is not None) == timed}
        return sorted(found, key=_place)

    def budgets(self) -> list[float]:
        """All limits in seconds, and the usual ones below the longest."""
        given = {r.max_seconds for r in self.records if r.max_seconds is not None}
        return sorted(given | {s for s in USUAL_SECONDS if s < max(given, default=0)})

    @cache  # noqa: B019  (lives as long as the report that makes it)
    def runs(self, series: Series) -> tuple[Run, ...]:
        """Runs of a series, one per instance and seed.

        Of a stepwise method, a run of more steps is read at the step in question, and of a timewise
        one a run of more seconds; an exact run is preferred. Runs one at a time are preferred to
        batches, for their time.
        """
        best: dict[tuple[str, str, int], Record] = {}
        for record in self.records:
            if record.label == series.method and _holds(record, series):
                key = record.suite, record.instance, record.seed
                if key not in best or _preference(record) < _preference(best[key]):
                    best[key] = record
        return tuple(self._read(record, series) for record in best.values())

    def score(self, series: Series, group: str) -> Score | None:
        """Score a series on a group or pool, None if there are no runs."""
        runs = [run for run in self.runs(series) if group in columns_of(run.record)]
        if not runs:
            return None
        names = {run.record.instance for run in runs}
        by_seed: dict[int, list[Run]] = {}
        for run in runs:
            by_seed.setdefault(run.record.seed, []).append(run)
        full = [some for some in by_seed.values() if len(some) == len(names)]
        means = [statistics.fmean(run.gap for run in some) for some in full]
        return Score(
            gap=_mean(runs, lambda run: run.gap),
            paper_gap=_mean(runs, lambda run: run.paper_gap),
            spread=statistics.stdev(means) if len(means) > 1 else None,
            seconds=_mean(runs, lambda run: run.seconds),
            batched=any(run.record.batch > 1 for run in runs),
            instances=len(names),
            seeds=len(full),
            complete=len(names) >= self._sizes[group] and len(full) == len(by_seed),
            read_out=any(run.record.max_seconds != series.seconds for run in runs),
            settled=group not in self._unsettled,
        )

    def _read(self, record: Record, series: Series) -> Run:
        share, reference = record.seconds / record.batch, self.reference(record)
        if series.seconds is not None and record.max_seconds != series.seconds:
            makespan = record.makespan_at(seconds=series.seconds)
            return Run(record, makespan, min(record.seconds, series.seconds), reference)
        if series.steps is None or record.max_steps == series.steps:
            return Run(record, record.makespan, share, reference)
        # A run that ended early (optimal) took all its time; else the steps take equal shares.
        part = min(1.0, series.steps / record.steps) if record.steps else 1.0
        return Run(record, record.makespan_at(steps=series.steps), share * part, reference)

    def makespans(self, series: Series) -> dict[str, list[Run]]:
        """Runs of a series by instance, the seeds in order."""
        found: dict[str, list[Run]] = {}
        for run in sorted(self.runs(series), key=lambda run: run.record.seed):
            found.setdefault(run.record.instance, []).append(run)
        return found


def _place(label: str) -> tuple[int, str]:
    name = label.partition(":")[0]
    return ORDER.index(name) if name in ORDER else len(ORDER), label


def _holds(record: Record, series: Series) -> bool:
    if series.seconds is not None:
        if record.max_seconds is None or record.max_seconds == series.seconds:
            return record.max_seconds is not None
        # Before its first schedule a run has nothing to read.
        early = bool(record.history) and record.history[0].seconds <= series.seconds
        timewise = is_timewise(record.method, record.threads)
        return timewise and early and record.max_seconds > series.seconds
    if record.max_steps is None or series.steps is None:
        return False
    stepwise = record.method in STEPWISE
    return record.max_steps == series.steps or (stepwise and record.max_steps > series.steps)


def _preference(record: Record) -> tuple[bool, float]:
    return record.batch > 1, record.max_seconds or record.max_steps or 0


def _mean(runs: Sequence[Run], value: Callable[[Run], float]) -> float:
    """Mean over instances of the mean over seeds, so that a missing seed shifts no weight."""
    by_name: dict[str, list[float]] = {}
    for run in runs:
        by_name.setdefault(run.record.instance, []).append(value(run))
    return statistics.fmean(statistics.fmean(values) for values in by_name.values())


@cache
def _references() -> dict[str, int]:
    known = {entry.digest: entry.upper_bound for entry in library.entries()}
    for group in load_set("synthetic").values():
        for instance, makespan in zip(group.instances, group.makespans.tolist(), strict=True):
            known[instance.digest] = makespan
    return known


@cache
def _bounds() -> dict[str, int]:
    return {entry.digest: entry.lower_bound for entry in library.entries()}


def columns_of(record: Record) -> tuple[str, ...]:
    """Name the columns a record can stand in: its group, and its pools."""
    return (record.group, *(_pools_of(record.instance) if record.suite in SUITES else ()))


@cache
def _pools_of(name: str) -> tuple[str, ...]:
    return tuple(pool for pool, members in pools().items() if name in members)


def group_sizes(records: Iterable[Record]) -> Mapping[str, int]:
    """Count the instances a group should have: of a suite all of them, else what was recorded."""
    sizes: dict[str, set[str]] = {}
    for record in records:
        for group in columns_of(record):
            sizes.setdefault(group, set()).add(record.instance)
    counts = {group: len(names) for group, names in sizes.items()}
    for entry in library.entries():
        group = f"{entry.family}{entry.shape}"
        if group in counts:
            counts[group] = sum(
                1 for other in library.select(family=entry.family) if other.shape == entry.shape
            )
    counts |= {group: len(names) for group, names in pools().items() if group in counts}
    for (jobs, machines), members in load_set("synthetic").items():
        group = f"synthetic{jobs}x{machines}"
        if group in counts:
            counts[group] = len(members.instances)
    return counts
