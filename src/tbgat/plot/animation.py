"""A search as a moving picture: the chart rearranges itself while the makespan falls."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tbgat.errors import MissingExtraError, UsageError
from tbgat.instance import Instance
from tbgat.plot.files import creating, new_figure
from tbgat.plot.view import View, view
from tbgat.schedule import Schedule
from tbgat.search.result import Improvement

try:
    from matplotlib.ticker import MaxNLocator
    from PIL import Image

    from tbgat.plot.gantt import draw_view, frame
except ModuleNotFoundError as error:
    raise MissingExtraError("drawing", "plot") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["animate"]

COLOURS = 64


def animate(
    instance: Instance,
    frames: Sequence[tuple[Improvement, Schedule]],
    path: str | os.PathLike[str],
    *,
    lower_bound: int | None = None,
    best_known: int | None = None,
    between: int = 3,
    hold: float = 0.35,
    rest: float = 2.5,
    size: tuple[float, float] = (8, 4.6),
    dpi: int = 90,
) -> Path:
    """Write a GIF of the schedules a search found, such as those a ``Recorder`` kept.

    Parameters
    ----------
    between
        Pictures drawn between two schedules, in which the bars glide.
    hold, rest
        Seconds each schedule stays, and the last one.
    """
    target = Path(path)
    if target.suffix.lower() != ".gif":
        raise UsageError(f"an animation is a .gif file, not {target.name!r}")
    if not frames:
        raise UsageError("there is nothing to animate: the search recorded no schedule")
    views = [view(instance, schedule) for _, schedule in frames]
    found = [improvement for improvement, _ in frames]
    lines = _Lines(lower_bound, best_known)
    pictures, milliseconds = [], []
    for number, seen in enumerate(views):
        if number:
            for part in np.linspace(0, 1, between + 2)[1:-1]:
                moved = _between(views[number - 1], seen, _ease(float(part)))
                pictures.append(_picture(instance, moved, found[:number], views, lines, size, dpi))
                milliseconds.append(60)
        pictures.append(_picture(instance, seen, found[: number + 1], views, lines, size, dpi))
        milliseconds.append(round(1000 * (rest if number == len(views) - 1 else hold)))
    _write(pictures, milliseconds, target)
    return target


class _Lines(NamedTuple):
    lower_bound: int | None
    best_known: int | None


def _ease(part: float) -> float:
    return part * part * (3 - 2 * part)


def _between(old: View, new: View, part: float) -> View:
    start = old.start + (new.start - old.start) * part
    return replace(new, start=start, end=start + (new.end - new.start), path=[])


def _picture(
    instance: Instance,
    seen: View,
    found: Sequence[Improvement],
    views: Sequence[View],
    lines: _Lines,
    size: tuple[float, float],
    dpi: int,
) -> Image.Image:
    figure = new_figure(size)
    chart, curve = figure.subplots(2, 1, height_ratios=[3, 1.15])
    widest = max(v.makespan for v in views)
    # While they glide, bars cross, and their labels would too.
    still = bool(seen.path)
    draw_view(chart, instance, seen, labels=still)
    title = f"{instance.name or instance.shape}: makespan {found[-1].makespan}"
    frame(chart, instance, widest, "machine", title)
    chart.axvline(found[-1].makespan, color="black", linewidth=1.4)
    _curve(curve, found, views, lines)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return Image.open(buffer).convert("RGB")


def _curve(ax: Axes, found: Sequence[Improvement], views: Sequence[View], lines: _Lines) -> None:
    numbers = range(1, len(found) + 1)
    fallen = [improvement.makespan for improvement in found]
    ax.step([*numbers, len(found) + 0.5], [*fallen, fallen[-1]], where="post", color="#1f5fa8")
    heights = [v.makespan for v in views]
    if lines.best_known is not None:
        heights.append(lines.best_known)
        ax.axhline(
            lines.best_known,
            color="#0a6e31",
            linestyle="--",
            linewidth=1.2,
            label=f"best known {lines.best_known}",
        )
    if lines.lower_bound is not None and lines.lower_bound != lines.best_known:
        heights.append(lines.lower_bound)
        ax.axhline(
            lines.lower_bound,
            color="#b3261e",
            linestyle=":",
            linewidth=1.4,
            label=f"lower bound {lines.lower_bound}",
        )
    room = max(1, 0.08 * (max(heights) - min(heights)))
    ax.set_xlim(1, len(views) + 0.5)
    ax.set_ylim(min(heights) - room, max(heights) + room)
    ax.set_xlabel("better schedules found", loc="left")
    ax.set_ylabel("makespan")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper right", frameon=False, fontsize=8)


def _write(pictures: Sequence[Image.Image], milliseconds: Sequence[int], target: Path) -> None:
    """One palette for all pictures, so that only what moves is stored again."""
    tall = Image.new("RGB", (pictures[0].width, pictures[0].height * 2))
    tall.paste(pictures[0], (0, 0))
    tall.paste(pictures[-1], (0, pictures[0].height))
    palette = tall.quantize(COLOURS, dither=Image.Dither.NONE)
    _keep_white(palette)
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    with creating(target):
        flat[0].save(
            target,
            save_all=True,
            append_images=flat[1:],
            duration=list(milliseconds),
            loop=0,
            optimize=True,
        )


def _keep_white(picture: Image.Image) -> None:
    """Averaged colours turn paper grey: make the brightest entries of the palette white."""
    entries = np.array(picture.getpalette()).reshape(-1, 3)
    entries[entries.min(axis=1) > 240] = 255
    picture.putpalette(entries.ravel().tolist())
