"""Curves: one search, several searches side by side, and learning."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tbgat.errors import FormatError, MissingExtraError, UsageError
from tbgat.plot.files import run_labels
from tbgat.search.result import Result

try:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    from tbgat.plot.labels import legend_below
except ModuleNotFoundError as error:
    raise MissingExtraError("drawing", "plot") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["compare", "learning", "read_log", "search"]

Against = Literal["step", "seconds"]

STYLES = ("-", "--", "-.", ":")
INK = ("#1f5fa8", "#c4541a", "#2b7d48", "#7c4fa3", "#9a6a00", "#b02a5b", "#3b8f99", "#555555")


def search(
    ax: Axes,
    result: Result,
    *,
    against: Against = "seconds",
    current: Sequence[int] | None = None,
    best_known: int | None = None,
    log: bool = False,
) -> None:
    """Draw how the best makespan fell, down to the bound.

    Parameters
    ----------
    against
        What runs along the axis: steps or seconds.
    current
        Makespan after every step, drawn behind the best; only against steps.
    log
        Logarithmic time: most is found in the first instants.
    """
    x, y = _staircase(result, against)
    if current is not None and against == "step":
        ax.plot(range(len(current)), current, color="#b8c4d2", linewidth=0.7, label="current")
    ax.step(x, y, where="post", color=INK[0], linewidth=1.8, label="best")
    ax.plot(x[:-1], y[:-1], "o", color=INK[0], markersize=3, clip_on=False)
    _reference_lines(ax, result.lower_bound, best_known)
    name = result.instance.name or result.instance.shape
    ax.set_title(f"{name}, {result.method}: makespan {result.makespan}", loc="left")
    _dress(ax, against, "makespan", [result] if log else [])


def compare(
    ax: Axes,
    results: Sequence[Result],
    *,
    against: Against = "seconds",
    labels: Sequence[str] | None = None,
    best_known: int | None = None,
    log: bool = False,
) -> None:
    """Draw the best makespan of several searches; for different instances, their gaps to the bound.

    Parameters
    ----------
    labels
        One per result; by default the method, with the seed or instance where they differ.
    log
        Logarithmic time: most is found in the first instants.
    """
    if not results:
        raise UsageError("there is nothing to compare: give at least one result")
    one_instance = len({result.instance.digest for result in results}) == 1
    named = list(labels) if labels is not None else run_labels(results)
    if len(named) != len(results):
        raise UsageError(f"{len(named)} labels for {len(results)} results")
    for number, (result, label) in enumerate(zip(results, named, strict=True)):
        x, y = _staircase(result, against)
        heights = y if one_instance else [m / max(result.lower_bound, 1) - 1 for m in y]
        final = f"{y[-1]}" if one_instance else f"{heights[-1]:.1%}"
        ax.step(
            x,
            heights,
            where="post",
            color=INK[number % len(INK)],
            linestyle=STYLES[number // len(INK) % len(STYLES)],
            marker="o",
            markersize=2.5,
            clip_on=False,
            linewidth=1.6,
            label=f"{label}: {final}",
        )
    if one_instance:
        _reference_lines(ax, max(result.lower_bound for result in results), best_known)
        ax.set_title(results[0].instance.name or results[0].instance.shape, loc="left")
    what = "makespan" if one_instance else "gap to the lower bound"
    _dress(ax, against, what, results if log else [])
    if not one_instance:
        ax.yaxis.set_major_formatter(PercentFormatter(1))


def learning(
    ax: Axes,
    records: Iterable[Mapping[str, Any]] | str | os.PathLike[str],
    *,
    x: str = "instances",
    y: str = "validation_gap",
    label: str | None = None,
) -> None:
    """Draw a column of a training log against another one.

    Parameters
    ----------
    records
        One mapping per line of the log, or the path of a JSONL file. Lines without both columns
        are passed over: validation happens only now and then.
    """
    rows = read_log(records) if isinstance(records, str | os.PathLike) else list(records)
    points = [(row[x], row[y]) for row in rows if _is_number(row.get(x)) and _is_number(row.get(y))]
    if not points:
        known = sorted({key for row in rows for key, value in row.items() if _is_number(value)})
        offer = ", ".join(known) or "no numbers at all"
        raise UsageError(f"the log has no line with both {x!r} and {y!r}; it has {offer}")
    points.sort(key=lambda point: point[0])
    across, heights = zip(*points, strict=True)
    # Each call adds a line to the ax, so several logs can be compared.
    colour = INK[len(ax.get_lines()) // 2 % len(INK)]
    lowest = list(itertools.accumulate(heights, min))
    ax.plot(across, heights, color=colour, linewidth=1.2, alpha=0.55, label=label or y)
    ax.plot(across, lowest, color=colour, linewidth=2, label=f"best {label or y}: {lowest[-1]:.4g}")
    ax.set_xlabel(x.replace("_", " "), loc="left")
    ax.set_ylabel(y.replace("_", " "))
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax)


def read_log(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read a JSONL file; a last line cut off in the middle (a running training) is passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise UsageError(f"cannot read {os.fspath(path)}: {reason}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines):
                break
            raise FormatError(f"{os.fspath(path)}, line {number}: this is not JSON") from None
        if not isinstance(row, dict):
            raise FormatError(f"{os.fspath(path)}, line {number}: expected an object {{...}}")
        rows.append(row)
    return rows


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _staircase(result: Result, against: Against) -> tuple[list[float], list[int]]:
    if against not in ("step", "seconds"):
        raise UsageError(f"a search is drawn against 'step' or 'seconds', not {against!r}")
    x: list[float] = [getattr(found, against) for found in result.history]
    y = [found.makespan for found in result.history]
    end: float = result.steps if against == "step" else result.seconds
    return [*x, max([end, *x])], [*y, result.makespan]


def _reference_lines(ax: Axes, lower_bound: int, best_known: int | None) -> None:
    if best_known is not None:
        look = {"color": "#0a6e31", "linestyle": "--", "linewidth": 1.2}
        ax.axhline(best_known, label=f"best known {best_known}", **look)  # type: ignore[arg-type]  # matplotlib's own names
    ax.axhline(
        lower_bound,
        color="#b3261e",
        linestyle=":",
        linewidth=1.4,
        label=f"lower bound {lower_bound}",
    )


def _dress(ax: Axes, against: Against, y_label: str, log: Sequence[Result]) -> None:
    """Name the axes; ``log`` holds the results for whose sake time is logarithmic, if it is."""
    ax.set_xlabel("steps" if against == "step" else "seconds", loc="left")
    ax.set_ylabel(y_label)
    ax.set_xlim(left=0)
    if y_label == "makespan":
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    if log:
        times = [x for result in log for x in _staircase(result, against)[0] if x > 0]
        ax.set_xscale("symlog", linthresh=min(times, default=1.0))
        ax.set_xlim(0, max(times, default=1.0))
    elif against == "step":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax)
