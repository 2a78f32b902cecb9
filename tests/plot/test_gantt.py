"""The Gantt chart: pictures with a tolerance, labels that fit, files of every kind."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.errors import UsageError
from tbgat.plot.files import new_figure
from tbgat.plot.gantt import gantt, gantt_size
from tbgat.plot.labels import BarLabels


@pytest.mark.parametrize("by", ["machine", "job"])
@pytest.mark.parametrize("name", ["ft06", "ta71"])
def test_picture(same_picture, name, by):
    instance = library.load(name)
    known = library.bounds(name)
    schedule = dispatch(instance)

    def draw(ax):
        gantt(
            ax,
            instance,
            schedule,
            by=by,
            lower_bound=known.lower_bound,
            best_known=known.upper_bound,
        )

    size = gantt_size(instance, by)
    same_picture(f"gantt-{name}-{by}", draw, (size[0] * 0.8, size[1] * 0.6))


def test_the_tolerance_notices_a_missing_critical_path(same_picture):
    instance = library.load("ft06")
    schedule = dispatch(instance)
    size = gantt_size(instance)
    with pytest.raises(AssertionError):
        same_picture(
            "gantt-ft06-machine",
            lambda ax: gantt(ax, instance, schedule, critical=False, lower_bound=55, best_known=55),
            (size[0] * 0.8, size[1] * 0.6),
            keep=False,
        )


@pytest.mark.parametrize(
    ("name", "by"), [("ft06", "machine"), ("ta71", "machine"), ("ta71", "job")]
)
def test_labels_stay_inside_their_bars_and_off_each_other(name, by, monkeypatch):
    instance = library.load(name)
    figure = new_figure(gantt_size(instance, by))
    ax = figure.subplots()
    gantt(ax, instance, dispatch(instance), by=by)
    figure.draw_without_rendering()
    boxes = drawn_label_boxes(figure, ax, monkeypatch)
    assert len(boxes) > instance.num_operations * 0.4
    rows = {}
    for box in boxes:
        rows.setdefault(round((box.y0 + box.y1) / 2), []).append(box)
    for row in rows.values():
        row.sort(key=lambda box: box.x0)
        assert all(a.x1 <= b.x0 for a, b in pairwise(row))
    ticks = sorted(
        (label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0
    )
    assert all(a.y1 <= b.y0 + 1 for a, b in pairwise(ticks))


def drawn_label_boxes(figure, ax, monkeypatch):
    """Where the labels of the bars land, caught while they are drawn."""
    from tbgat.plot import labels

    boxes = []

    class Caught(labels.Text):
        def draw(self, renderer):
            boxes.append(self.get_window_extent(renderer))

    monkeypatch.setattr(labels, "Text", Caught)
    artist = next(child for child in ax.get_children() if isinstance(child, BarLabels))
    artist.draw(FigureCanvasAgg(figure).get_renderer())
    return boxes


def test_an_unknown_grouping_is_refused():
    instance = library.load("ft06")
    with pytest.raises(UsageError, match="by 'machine' or by 'job', not by 'colour'"):
        gantt(new_figure((4, 3)).subplots(), instance, dispatch(instance), by="colour")


def test_a_shop_of_one_operation_without_length_can_be_drawn():
    from tbgat.instance import Instance
    from tbgat.schedule import Schedule

    instance = Instance([[(0, 0)]])
    figure = new_figure((4, 3))
    gantt(figure.subplots(), instance, Schedule.from_starts(instance, np.array([0])))
    figure.draw_without_rendering()
