"""Gap against steps and against seconds: the points of the two pictures."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from tbgat.bench.plan import STEPLESS, STEPWISE
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores, Series
from tbgat.search.result import relative_gap

__all__ = ["Curve", "second_curves", "shared_groups", "step_curves"]

Curve = tuple[list[float], list[float]]

GRID = (1, 2, 3, 5, 7)


def shared_groups(scores: Scores, groups: Sequence[str]) -> list[str]:
    """Those groups that every stepwise method has been run on wholly, in the order given."""
    by_label: dict[str, dict[str, set[str]]] = {}
    for record in scores.records:
        if record.max_steps and record.method in STEPWISE - STEPLESS and record.group in groups:
            found = by_label.setdefault(record.label, {})
            found.setdefault(record.group, set()).add(record.instance)
    every = {group: [found.get(group, set()) for found in by_label.values()] for group in groups}
    return [
        group for group, found in every.items() if found and all(f and f == found[0] for f in found)
    ]


def step_curves(scores: Scores, groups: Sequence[str]) -> dict[str, Curve]:
    """Mean gap in percent after so many steps, of every stepwise method.

    Only instances that all of these methods have been run on count, so that the curves compare.
    """
    by_label: dict[str, dict[str, list[Record]]] = {}
    for record in scores.records:
        if record.max_steps and record.method in STEPWISE - STEPLESS and record.group in groups:
            by_label.setdefault(record.label, {}).setdefault(record.instance, []).append(record)
    if not by_label:
        return {}
    common = set.intersection(*(set(found) for found in by_label.values()))
    curves = {}
    for label, found in by_label.items():
        records = [record for name in sorted(common) for record in found[name]]
        if records:
            end = min(record.max_steps or 0 for record in records)
            points = [f * 10**p for p in range(7) for f in GRID if f * 10**p <= end]
            heights = [_mean_gap(scores, records, point) for point in points]
            curves[label] = [float(point) for point in points], heights
    return curves


def _mean_gap(scores: Scores, records: Sequence[Record], steps: int) -> float:
    return statistics.fmean(
        100 * relative_gap(record.makespan_at(steps=steps), scores.reference(record))
        for record in records
    )


def second_curves(scores: Scores, groups: Sequence[str]) -> dict[str, Curve]:
    """Mean gap in percent after so many seconds, on the instances and seeds all methods have.

    A method has points only where it has all of these runs: one that was given less time ends
    earlier, and of one that told only of its end the points are its budgets. A seed that only some
    of the instances have does not count, or its runs, often shorter, would end the curves of all.
    """
    budgets = scores.budgets()
    grid = (f * 10**p / 10 for p in range(5) for f in GRID)
    points = sorted({*budgets, *(s for s in grid if s < max(budgets, default=0))})
    curves: dict[str, Curve] = {}
    found = {
        label: {
            budget: {
                (run.record.instance, run.record.seed): run.gap
                for run in scores.runs(Series(label, seconds=budget))
                if run.record.group in groups
            }
            for budget in points
        }
        for label in scores.labels(timed=True)
        if not Series(label).stepless
    }
    widest = [max(map(set, gaps.values()), key=len) for gaps in found.values()]
    common = _balanced(set.intersection(*filter(None, widest)) if any(widest) else set())
    for label, by_budget in found.items():
        held = {budget: gaps for budget, gaps in by_budget.items() if common <= gaps.keys()}
        if common and held:
            curves[label] = list(held), [_by_instance(gaps, common) for gaps in held.values()]
    return curves


def _balanced(keys: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """Keep the seeds that every instance has; all of them if there is no such seed."""
    seeds: dict[str, set[int]] = {}
    for name, seed in keys:
        seeds.setdefault(name, set()).add(seed)
    shared = set.intersection(*seeds.values()) if seeds else set()
    return {(name, seed) for name, seed in keys if seed in shared} if shared else keys


def _by_instance(gaps: Mapping[tuple[str, int], float], keys: Iterable[tuple[str, int]]) -> float:
    """Mean over instances of the mean over their seeds."""
    found: dict[str, list[float]] = {}
    for name, seed in keys:
        found.setdefault(name, []).append(gaps[name, seed])
    return statistics.fmean(map(statistics.fmean, found.values()))
