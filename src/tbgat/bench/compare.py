"""Two methods on the same instances: wins, ties, losses, and whether that may be chance."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tbgat.bench.published import published_gaps
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores, Series, columns_of
from tbgat.errors import MissingExtraError

__all__ = ["CLEAR", "Columns", "Duel", "against_all", "against_paper", "duel", "duels"]

#: Standard errors at which a difference is no longer chance, whatever more seeds would say.
CLEAR = 4


@dataclass(frozen=True)
class Duel:
    """One series against another, instance by instance.

    Attributes
    ----------
    wins, ties, losses
        Instances on which the first has the smaller, equal, larger mean gap over the seeds.
    difference
        Mean gap of the first minus that of the second, in percentage points.
    error
        Its standard error over the instances. Seeds are only a part of that, so with these
        instances and many seeds the difference would hardly be further away.
    p_value
        Two-sided Wilcoxon signed-rank test over the instances.
    seeds
        How many seeds there are of every one of these instances.
    met
        Runs that both have.
    conceded
        Whether there are more runs in the comparison: the difference is then the largest possible,
        and its error says nothing.
    """

    first: Series
    second: Series
    wins: int
    ties: int
    losses: int
    difference: float
    error: float
    p_value: float
    seeds: int
    met: int
    conceded: bool

    @property
    def instances(self) -> int:
        """On how many instances they met."""
        return self.wins + self.ties + self.losses


@dataclass(frozen=True)
class Columns:
    """A measured series against a published method: in how many columns its gap is smaller.

    ``lost`` names the columns in which it is larger.
    """

    first: Series
    second: str
    wins: int
    ties: int
    losses: int
    difference: float
    lost: tuple[str, ...]


def duels(
    scores: Scores, kept: Callable[[Record], bool], steps: Iterable[int], *, timed: bool
) -> list[Duel]:
    """Compare every pair of methods at every budget, on the records that are kept."""
    found = []
    budgets: list[tuple[int | None, float | None]]
    budgets = [(None, s) for s in scores.budgets()] if timed else [(n, None) for n in steps]
    for place, (n, seconds) in enumerate(budgets):
        for one, other in combinations(scores.labels(timed=timed), 2):
            first, second = Series(one, n, seconds), Series(other, n, seconds)
            told = place and first.stepless and second.stepless
            result = None if told else duel(scores, first, second, kept)
            if result is not None:
                found.append(result)
    return found


def duel(
    scores: Scores,
    one: Series,
    other: Series,
    kept: Callable[[Record], bool] = lambda _: True,
    *,
    conceding: bool = False,
) -> Duel | None:
    """Compare two series on the instances and seeds both have; None if there are none.

    Parameters
    ----------
    conceding
        Compare all runs of the first: one that the second lacks counts as if it had ended at the
        lower bound. So the true difference can only be smaller.
    """
    first, second = (
        {
            (run.record.suite, run.record.instance, run.record.seed): run
            for run in scores.runs(series)
            if kept(run.record)
        }
        for series in (one, other)
    )
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for key, run in first.items():
        if key in second or conceding:
            gap = second[key].gap if key in second else run.least_gap
            pairs.setdefault(key[:2], []).append((run.gap, gap))
    if not pairs:
        return None
    differences = [
        statistics.fmean(a for a, _ in values) - statistics.fmean(b for _, b in values)
        for values in pairs.values()
    ]
    # Equal makespans must tie, whatever the order their gaps were added up in.
    exact = [0.0 if abs(d) < 1e-9 else d for d in differences]
    wins, losses = sum(d < 0 for d in exact), sum(d > 0 for d in exact)
    return Duel(
        one,
        other,
        wins,
        len(exact) - wins - losses,
        losses,
        statistics.fmean(exact),
        statistics.stdev(exact) / len(exact) ** 0.5 if len(exact) > 1 else 0.0,
        _wilcoxon(exact),
        min(len(values) for values in pairs.values()),
        len(first.keys() & second.keys()),
        conceding and not first.keys() <= second.keys(),
    )


def against_all(
    scores: Scores, one: Series, column: str, tie: float, size: int
) -> tuple[list[Duel], bool]:
    """Duels with all other methods at the same seconds in a column, and whether nothing is missing.

    Where another method lacks seeds but was run on all ``size`` instances, and is :data:`CLEAR`
    standard errors away from doing better by more than ``tie``, those seeds cannot matter. Else
    they are conceded to it where that leaves a difference of at most ``tie``: it cannot have won by
    more. Else they are missing.
    """
    found, whole = [], True
    for label in scores.labels(timed=True):
        other = replace(one, method=label)
        if other.stepless or label == one.method:
            continue
        met = duel(scores, one, other, lambda record: column in columns_of(record))
        most = duel(scores, one, other, lambda record: column in columns_of(record), conceding=True)
        if met != most and not _is_clear(met, tie, size):
            if most is not None and most.difference <= tie:
                met = most
            else:
                whole = False
        found += [] if met is None else [met]
    return found, whole


def _is_clear(met: Duel | None, tie: float, size: int) -> bool:
    if met is None or met.instances < size:
        return False
    return met.difference + CLEAR * met.error <= tie


def _wilcoxon(differences: Sequence[float]) -> float:
    if not any(differences):
        return 1.0
    try:
        from scipy.stats import wilcoxon
    except ModuleNotFoundError:
        raise MissingExtraError("the test of significance", "bench") from None
    return float(wilcoxon(differences).pvalue)


def against_paper(
    scores: Scores, steps: Iterable[int], groups: Sequence[str], source: str = "tbgat"
) -> list[Columns]:
    """Compare measured mean gaps with the paper's at the same steps, column by column.

    Both are rounded as the paper rounds, and measured against the paper's references. Groups whose
    references are not settled are left out.
    """
    found = []
    for n in steps:
        published = {
            p.group: p.gap
            for p in published_gaps()
            if p.source == source and p.method == f"TBGAT-{n}" and p.group in groups
        }
        for label in scores.labels(timed=False):
            series = Series(label, steps=n)
            differences = {}
            for group, gap in published.items():
                score = scores.score(series, group)
                if score is not None and score.settled:
                    differences[group] = round(round(score.paper_gap, 1) - gap, 1)
            if differences:
                lost = tuple(group for group, d in differences.items() if d > 0)
                wins = sum(d < 0 for d in differences.values())
                found.append(
                    Columns(
                        series,
                        f"TBGAT-{n} (published)",
                        wins,
                        len(differences) - wins - len(lost),
                        len(lost),
                        statistics.fmean(differences.values()),
                        lost,
                    )
                )
    return found
