"""Gantt chart of a schedule, by machine or by job."""

from __future__ import annotations

import colorsys
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.plot.view import View, critical_blocks, job_colour, view
from tbgat.schedule import Schedule

try:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import MaxNLocator

    from tbgat.plot.labels import BarLabels, legend_below, thin_row_labels
except ModuleNotFoundError as error:
    raise MissingExtraError("drawing", "plot") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Grouping", "draw_view", "frame", "gantt", "gantt_size", "palette"]

Grouping = Literal["machine", "job"]

BAR_HEIGHT = 0.8


def gantt(
    ax: Axes,
    instance: Instance,
    schedule: Schedule,
    *,
    by: Grouping = "machine",
    critical: bool = True,
    labels: bool = True,
    lower_bound: int | None = None,
    best_known: int | None = None,
    title: str | None = None,
) -> None:
    """Draw a schedule: a row per machine (or job), a colour per job.

    Parameters
    ----------
    critical
        Outline the operations of one critical path, and its blocks more heavily.
    labels
        Name bars where the name fits: the job on a machine's row, the machine on a job's row.
    lower_bound, best_known
        Drawn as upright lines when given.
    """
    if by not in ("machine", "job"):
        raise UsageError(f"a Gantt chart has rows by 'machine' or by 'job', not by {by!r}")
    seen = view(instance, schedule)
    draw_view(ax, instance, seen, by=by, critical=critical, labels=labels)
    frame(ax, instance, seen.makespan, by, title)
    _lines(ax, seen.makespan, lower_bound, best_known)


def draw_view(
    ax: Axes,
    instance: Instance,
    seen: View,
    *,
    by: Grouping = "machine",
    critical: bool = True,
    labels: bool = True,
) -> None:
    """Draw bars, outlines and labels alone, without axes and lines."""
    row = instance.machines if by == "machine" else instance.job_of
    _bars(ax, instance, seen, row)
    if critical:
        _outlines(ax, instance, seen, row)
    if labels:
        inner = instance.job_of if by == "machine" else instance.machines
        label = instance.job_label if by == "machine" else instance.machine_label
        ax.add_artist(BarLabels(seen.start, seen.end, row, [label(int(i)) for i in inner]))


def gantt_size(instance: Instance, by: Grouping = "machine") -> tuple[float, float]:
    """Width and height in inches at which the chart of this instance can be read."""
    rows = instance.num_machines if by == "machine" else instance.num_jobs
    bars = instance.num_operations / rows
    return float(np.clip(0.26 * bars + 4, 7, 22)), float(np.clip(0.24 * rows + 1.4, 2.6, 30))


@cache
def palette(count: int) -> list[tuple[float, float, float]]:
    """Colours of jobs (or machines) as red, green and blue."""
    listed = map(job_colour, range(count))
    return [colorsys.hls_to_rgb(hue / 360, light, strong) for hue, strong, light in listed]


def _bars(ax: Axes, instance: Instance, seen: View, row: Any) -> None:
    low, high = row - BAR_HEIGHT / 2, row + BAR_HEIGHT / 2
    corners = [(seen.start, low), (seen.end, low), (seen.end, high), (seen.start, high)]
    shapes = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
    colours = [palette(instance.num_jobs)[job] for job in instance.job_of]
    ax.add_collection(
        PolyCollection(list(shapes), facecolors=colours, edgecolors="white", linewidths=0.4)
    )


def _outlines(ax: Axes, instance: Instance, seen: View, row: Any) -> None:
    for op in seen.path:
        _outline(ax, seen.start[op], seen.end[op], row[op], 0.9)
    for block in critical_blocks(instance, seen.path):
        rows = {int(row[op]) for op in block}
        if len(block) > 1 and len(rows) == 1:
            _outline(ax, seen.start[block[0]], seen.end[block[-1]], rows.pop(), 2.2)


def _outline(ax: Axes, start: int, end: int, row: int, width: float) -> None:
    ax.add_patch(
        Rectangle(
            (float(start), row - BAR_HEIGHT / 2),
            float(end - start),
            BAR_HEIGHT,
            fill=False,
            edgecolor="black",
            linewidth=width,
            joinstyle="miter",
            zorder=3,
        )
    )


def frame(ax: Axes, instance: Instance, makespan: int, by: Grouping, title: str | None) -> None:
    """Set limits, row labels and title."""
    rows = instance.num_machines if by == "machine" else instance.num_jobs
    label = instance.machine_label if by == "machine" else instance.job_label
    ax.set_xlim(0, max(makespan, 1) * 1.02)
    ax.set_ylim(rows - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
    ax.set_yticks(range(rows), [label(i) for i in range(rows)])
    thin_row_labels(ax)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("time", loc="left")
    ax.set_ylabel(by)
    ax.spines[["top", "right"]].set_visible(False)
    name = instance.name or instance.shape
    ax.set_title(f"{name}: makespan {makespan}" if title is None else title, loc="left")


def _lines(ax: Axes, makespan: int, lower_bound: int | None, best_known: int | None) -> None:
    marks = [("makespan", makespan, "-", "black")]
    if best_known is not None:
        marks.append(("best known", best_known, "--", "#0a6e31"))
    if lower_bound is not None:
        marks.append(("lower bound", lower_bound, ":", "#b3261e"))
    right = max(value for _, value, _, _ in marks)
    ax.set_xlim(0, max(right, 1) * 1.02)
    for name, value, style, colour in marks:
        ax.axvline(value, linestyle=style, color=colour, linewidth=1.4, label=f"{name} {value}")
    legend_below(ax)
