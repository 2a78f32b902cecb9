"""The disjunctive graph of an instance or of a solution, laid out as in the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tbgat.errors import MissingExtraError
from tbgat.instance import Instance
from tbgat.plot.view import View, view
from tbgat.schedule import Schedule

try:
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch

    from tbgat.plot.gantt import palette
except ModuleNotFoundError as error:
    raise MissingExtraError("drawing", "plot") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["graph", "graph_size"]

Point = tuple[float, float]

# Above this many operations, the edges of the undecided graph would hide everything.
MANY_OPERATIONS = 120


def graph(
    ax: Axes,
    instance: Instance,
    schedule: Schedule | None = None,
    *,
    critical: bool = True,
    title: str | None = None,
) -> None:
    """Draw operations as nodes, jobs as rows of arcs, and each machine in its colour.

    Parameters
    ----------
    schedule
        Draw its machine orders as arcs between neighbours. Without one, operations that share a
        machine are joined by dashed edges without direction: the decisions still to be made.
    critical
        Draw one critical path of the solution in bold.
    """
    at = _positions(instance)
    reach = _node_reach(instance)
    seen = None if schedule is None else view(instance, schedule)
    _job_arcs(ax, instance, at, reach)
    if seen is None:
        _undecided_edges(ax, instance, at)
    else:
        _machine_arcs(ax, instance, seen, at, reach)
        if critical:
            _critical_arcs(ax, instance, seen, at, reach)
    _nodes(ax, instance, at)
    _finish(ax, instance, seen, title)


def graph_size(instance: Instance) -> tuple[float, float]:
    """Width and height in inches at which the graph of this instance can be read."""
    longest = int(np.diff(instance.job_offsets).max())
    width, height = 0.95 * (longest + 2) + 0.6, 0.85 * instance.num_jobs + 1.2
    shrink = min(1.0, 40 / width, 60 / height)
    return max(width * shrink, 4.5), max(height * shrink, 2.6)


def _positions(instance: Instance) -> dict[int | str, Point]:
    longest = int(np.diff(instance.job_offsets).max())
    at: dict[int | str, Point] = {}
    for op, (job, step) in enumerate(zip(instance.job_of, instance.step_of, strict=True)):
        at[op] = (1 + float(step), float(job))
    middle = (instance.num_jobs - 1) / 2
    at["S"], at["T"] = (0.0, middle), (1.0 + longest, middle)
    return at


def _node_reach(instance: Instance) -> float:
    """Radius of a node in points."""
    width, _ = graph_size(instance)
    longest = int(np.diff(instance.job_offsets).max())
    return float(np.clip(72 * width / (longest + 2) * 0.22, 3, 13))


def _arrow(ax: Axes, a: Point, b: Point, reach: float, **look: Any) -> None:
    ax.add_patch(
        FancyArrowPatch(
            a, b, arrowstyle=look.pop("arrowstyle", "-|>"), shrinkA=reach, shrinkB=reach, **look
        )
    )


def _job_arcs(ax: Axes, instance: Instance, at: dict[int | str, Point], reach: float) -> None:
    look = {"color": "#555", "linewidth": 1.0, "mutation_scale": reach * 0.7 + 2, "zorder": 1}
    for first, stop in pairwise(instance.job_offsets.tolist()):
        chain: list[int | str] = ["S", *range(first, stop), "T"]
        for a, b in pairwise(chain):
            _arrow(ax, at[a], at[b], reach, **look)


def _undecided_edges(ax: Axes, instance: Instance, at: dict[int | str, Point]) -> None:
    colours = palette(instance.num_machines)
    thin = instance.num_operations > MANY_OPERATIONS
    for machine in range(instance.num_machines):
        ops = np.flatnonzero(instance.machines == machine).tolist()
        for a, b in combinations(ops, 2):
            ax.add_patch(
                FancyArrowPatch(
                    at[a],
                    at[b],
                    arrowstyle="-",
                    connectionstyle=_bend(at[a], at[b]),
                    color=colours[machine],
                    linestyle=(0, (4, 2)),
                    linewidth=0.4 if thin else 1.3,
                    zorder=0,
                )
            )


def _bend(a: Point, b: Point) -> str:
    """Curve an arc so that it does not run along a row or column, through the nodes between."""
    straight = (a[0] == b[0] and abs(a[1] - b[1]) > 1) or a[1] == b[1]
    # The bulge grows with the length: keep it within half a column.
    length = float(np.hypot(a[0] - b[0], a[1] - b[1]))
    return f"arc3,rad={min(0.22 if straight else 0.06, 0.8 / max(length, 1)):.3f}"


def _machine_arcs(
    ax: Axes, instance: Instance, seen: View, at: dict[int | str, Point], reach: float
) -> None:
    colours = palette(instance.num_machines)
    for machine, order in enumerate(seen.orders):
        for a, b in pairwise(order):
            _arrow(
                ax,
                at[a],
                at[b],
                reach,
                connectionstyle=_bend(at[a], at[b]),
                color=_darker(colours[machine]),
                linewidth=1.4,
                mutation_scale=reach * 0.7 + 2,
                zorder=1,
            )


def _critical_arcs(
    ax: Axes, instance: Instance, seen: View, at: dict[int | str, Point], reach: float
) -> None:
    for a, b in _path_arcs(seen.path):
        on_machine = (
            isinstance(a, int)
            and isinstance(b, int)
            and instance.machines[a] == instance.machines[b]
            and instance.job_of[a] != instance.job_of[b]
        )
        bend = _bend(at[a], at[b]) if on_machine else "arc3,rad=0"
        look = {"color": "black", "linewidth": 3.0, "mutation_scale": reach + 4, "zorder": 2}
        _arrow(ax, at[a], at[b], reach, connectionstyle=bend, **look)


def _path_arcs(path: Iterable[int]) -> Iterator[tuple[int | str, int | str]]:
    return pairwise(["S", *path, "T"])


def _darker(colour: tuple[float, float, float]) -> tuple[float, float, float]:
    r, g, b = colour
    return r * 0.8, g * 0.8, b * 0.8


def _nodes(ax: Axes, instance: Instance, at: dict[int | str, Point]) -> None:
    colours = palette(instance.num_machines)
    radius = _node_reach(instance)
    named = radius >= 7
    for node, (x, y) in at.items():
        if isinstance(node, str):
            shape, fill, text = "s", (1.0, 1.0, 1.0), node
        else:
            shape, fill = "o", colours[instance.machines[node]]
            text = str(instance.durations[node])
        ax.plot(
            x,
            y,
            shape,
            markersize=2 * radius,
            markerfacecolor=fill,
            markeredgecolor="black",
            markeredgewidth=0.8,
            zorder=3,
        )
        if named:
            ax.annotate(text, (x, y), ha="center", va="center", fontsize=radius * 0.75, zorder=4)


def _finish(ax: Axes, instance: Instance, seen: View | None, title: str | None) -> None:
    longest = int(np.diff(instance.job_offsets).max())
    ax.set_xlim(-0.5, longest + 1.5)
    ax.set_ylim(instance.num_jobs - 0.35, -0.65)
    ax.set_yticks(
        range(instance.num_jobs), [instance.job_label(j) for j in range(instance.num_jobs)]
    )
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("job")
    ax.spines[:].set_visible(False)
    name = instance.name or instance.shape
    state = "undecided" if seen is None else f"makespan {seen.makespan}"
    ax.set_title(f"{name}: {state}" if title is None else title, loc="left")
    colours = palette(instance.num_machines)
    handles = [
        Line2D([], [], color=_darker(colours[m]), linewidth=2, label=instance.machine_label(m))
        for m in range(instance.num_machines)
    ]
    if seen is not None:
        handles.append(Line2D([], [], color="black", linewidth=3, label="critical path"))
    columns = max(1, min(len(handles), int(graph_size(instance)[0] * 1.4)))
    ax.legend(
        handles=handles,
        title="machine (a node shows its duration)",
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=columns,
        frameon=False,
        fontsize=8,
        title_fontsize=8,
    )
