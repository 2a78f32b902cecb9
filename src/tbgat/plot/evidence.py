"""The pictures of a report: gap against steps, gap against seconds, and learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tbgat.bench.curves import Curve, second_curves, shared_groups, step_curves
from tbgat.bench.published import published_gaps
from tbgat.bench.scores import Scores
from tbgat.bench.suites import PAPER_GROUPS
from tbgat.errors import UsageError
from tbgat.plot.curves import INK, STYLES, learning, read_log
from tbgat.plot.files import new_figure, write_figure
from tbgat.plot.labels import legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["gap_curves", "learning_curves", "write_figures"]

SIZE = (7.5, 4.8)
# Points that are worth a mark each, and how far apart gaps must be for a logarithmic axis.
FEW = 6
WIDE = 20
TICKS = {"steps": (1, 10, 100, 500, 1000, 2000, 5000), "seconds": (0.1, 0.2, 0.5, 1, 2, 5, 20, 60)}
GAP_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


def gap_curves(
    ax: Axes, measured: Mapping[str, Curve], published: Mapping[str, Curve], *, across: str
) -> None:
    """Draw mean gaps of all methods; published ones in grey with open marks.

    Parameters
    ----------
    across
        What runs along the axis, ``steps`` or ``seconds``.
    """
    for number, (label, (x, y)) in enumerate(published.items()):
        ax.plot(
            x,
            y,
            color="#888888",
            linestyle=STYLES[number % len(STYLES)],
            marker="o",
            markerfacecolor="white",
            label=f"{label} (published)",
        )
    for number, (label, (x, y)) in enumerate(measured.items()):
        ax.plot(
            x,
            y,
            color=INK[number % len(INK)],
            marker="o" if len(x) < FEW else "",
            markersize=4,
            clip_on=False,
            label=label,
        )
    ax.set_xscale("log")
    end = max(s for x, _ in measured.values() for s in x)
    ticks = [tick for tick in TICKS[across] if tick <= end]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    heights = [gap for _, y in (*measured.values(), *published.values()) for gap in y]
    if min(heights) > 0 and max(heights) > WIDE * min(heights):
        ax.set_yscale("log")
        ticks = [tick for tick in GAP_TICKS if min(heights) <= tick <= max(heights)]
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    else:
        ax.set_ylim(bottom=0)
    ax.minorticks_off()
    ax.set_xlabel(across, loc="left")
    ax.set_ylabel("mean gap to the best known, %")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax)


def learning_curves(ax: Axes, logs: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
    """Draw the validation gap of several trainings against instances seen: Figures 6a and 6b."""
    for label, rows in logs.items():
        learning(ax, rows, label=label)


def write_figures(scores: Scores, folder: Path, *, training: Path | None = None) -> list[Path]:
    """Draw what there are data for: mean gaps over Taillard's groups, or all if none is there.

    By steps, over those of Taillard's groups that all methods have been run on.

    Parameters
    ----------
    training
        Folder whose subfolders have a ``log.jsonl`` each: Figures 6a and 6b.
    """
    written = []
    taillard = PAPER_GROUPS[0][:8]
    measured = list(dict.fromkeys(record.group for record in scores.records))
    for across, points in (("steps", step_curves), ("seconds", second_curves)):
        # Published figures are means of whole groups: the curves beside them are of the same.
        shared = shared_groups(scores, taillard) if across == "steps" else []
        curves = points(scores, shared or taillard) or points(scores, measured)
        if curves:
            figure = new_figure(SIZE)
            published = _published_steps(shared) if shared else {}
            gap_curves(figure.subplots(), curves, published, across=across)
            written.append(write_figure(figure, folder / f"gap-{across}.png"))
    if training is not None:
        logs = {path.parent.name: read_log(path) for path in sorted(training.glob("*/log.jsonl"))}
        if not logs:
            raise UsageError(f"there is no folder with a log.jsonl in {training}")
        figure = new_figure(SIZE)
        learning_curves(figure.subplots(), logs)
        written.append(write_figure(figure, folder / "figure6ab.png"))
    return written


def _published_steps(groups: Sequence[str]) -> dict[str, Curve]:
    """Published means over groups at 500 to 5000 steps, of the two methods that have them."""
    curves: dict[str, Curve] = {}
    for method in ("L2S", "TBGAT"):
        found: dict[int, list[float]] = {}
        for figure in published_gaps():
            name, _, steps = figure.method.partition("-")
            if name == method and figure.group in groups and figure.source.startswith("tbgat"):
                found.setdefault(int(steps), []).append(figure.gap)
        across = sorted(found)
        heights = [sum(found[n]) / len(found[n]) for n in across]
        curves[method] = [float(n) for n in across], heights
    return curves
