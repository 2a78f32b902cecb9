"""Texts that appear only where they fit, at whatever size and zoom the picture is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Text

__all__ = ["BarLabels", "legend_below", "thin_row_labels"]


class BarLabels(Artist):
    """One text per bar, left out where the bar on paper is narrower or lower than the text."""

    def __init__(
        self,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        row: npt.ArrayLike,
        texts: Sequence[str],
        *,
        size: float = 7.5,
        smallest: float = 4.5,
    ) -> None:
        super().__init__()
        self.start, self.end, self.row = np.asarray(start), np.asarray(end), np.asarray(row)
        self.texts = list(texts)
        self.size, self.smallest = size, smallest
        self.set_zorder(4)

    def draw(self, renderer: RendererBase, *args: Any, **kwargs: Any) -> None:
        """Draw the labels that fit, in one font size for the whole chart."""
        axes = self.axes
        if axes is None or not self.get_visible():
            return
        at = axes.transData.transform
        left, y = at(np.column_stack((self.start, self.row))).T
        right, low = at(np.column_stack((self.end, self.row + 0.8))).T
        room, height = np.abs(right - left), np.abs(low - y)
        pen = Text(0, 0, "", ha="center", va="center_baseline", fontsize=self.size)
        pen.set_figure(axes.get_figure())  # type: ignore[arg-type]  # an ax in use has a figure
        widths, tall = self._measure(pen, renderer)
        typical = np.median(room / np.maximum(widths, 1e-9)) / 1.25
        scale = np.clip(min(typical, height.min() / tall), self.smallest / self.size, 1)
        pen.set_fontsize(self.size * scale)
        inside = axes.bbox.padded(0.5)
        for i in np.flatnonzero((widths * scale * 1.15 < room) & (tall * scale < height)):
            x = (left[i] + right[i]) / 2
            if inside.contains(x, y[i]):
                pen.set_text(self.texts[i])
                pen.set_position((x, y[i]))
                pen.draw(renderer)

    def _measure(self, pen: Text, renderer: RendererBase) -> tuple[npt.NDArray[np.float64], float]:
        known: dict[str, float] = {}
        tall = 0.0
        for text in set(self.texts):
            pen.set_text(text)
            box = pen.get_window_extent(renderer)
            known[text], tall = box.width, max(tall, box.height)
        return np.array([known[text] for text in self.texts]), max(tall, 1e-9)


def legend_below(ax: Axes) -> None:
    """Put the legend under the axis, where it can hide nothing."""
    below: dict[str, Any] = {"bbox_to_anchor": (1, -30 / _height_in_points(ax))}
    ax.legend(loc="upper right", frameon=False, fontsize=8, borderaxespad=0, ncols=3, **below)


def _height_in_points(ax: Axes) -> float:
    figure = ax.get_figure()
    return float(ax.bbox.height) * 72 / (figure.dpi if figure else 72)


def thin_row_labels(ax: Axes, size: float = 9, smallest: float = 5) -> None:
    """Shrink the row labels to the height of a row, and leave some out when that is too small."""
    rows = len(ax.get_yticks())
    fitting = _height_in_points(ax) / max(rows, 1) / 1.15
    every = int(np.ceil(smallest / fitting)) if fitting < smallest else 1
    texts = [label.get_text() for label in ax.get_yticklabels()]
    ax.set_yticks(range(0, rows, every), texts[::every])
    ax.tick_params(axis="y", labelsize=float(np.clip(fitting, smallest, size)))
