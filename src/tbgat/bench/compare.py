"""Two methods on the same instances: wins, ties, losses, and whether that may be chance."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from tbgat.bench.published import published_gaps
from tbgat.bench.records import Record
from tbgat.bench.scores import Scores, Series
from tbgat.errors import MissingExtraError

__all__ = ["Columns", "Duel", "against_paper", "duel", "duels"]


@dataclass(frozen=True)
class Duel:
    """One series against another, instance by instance.

    Attributes
    ----------
    wins, ties, losses
        Instances on which the first has the smaller, equal, larger mean gap over the seeds.
    difference
        Mean gap of the first minus that of the second, in percentage points.
    p_value
        Two-sided Wilcoxon signed-rank test over the instances.
    """

    first: Series
    second: Series
    wins: int
    ties: int
    losses: int
    difference: float
    p_value: float


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
    scores: Scores, one: Series, other: Series, kept: Callable[[Record], bool] = lambda _: True
) -> Duel | None:
    """Compare two series on the instances and seeds both have; None if there are none."""
    runs = [
        {
            (r.record.suite, r.record.instance, r.record.seed): r.gap
            for r in scores.runs(series)
            if kept(r.record)
        }
        for series in (one, other)
    ]
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for key in sorted(runs[0].keys() & runs[1].keys()):
        pairs.setdefault(key[:2], []).append((runs[0][key], runs[1][key]))
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
        _wilcoxon(exact),
    )


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
