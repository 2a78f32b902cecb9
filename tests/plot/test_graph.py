"""The disjunctive graph: pictures with a tolerance, and every arc that must be there."""

import pytest
from matplotlib.patches import FancyArrowPatch

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.instance import Instance
from tbgat.plot.files import new_figure
from tbgat.plot.graph import graph, graph_size

# As small as the paper's Figure 1, with one short job.
SMALL = Instance(
    [[(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)]], name="small"
)


@pytest.mark.parametrize("solved", [False, True])
@pytest.mark.parametrize("instance", [SMALL, library.load("ft06")], ids=["small", "ft06"])
def test_picture(same_picture, instance, solved):
    schedule = dispatch(instance) if solved else None
    name = f"graph-{instance.name}-{'solution' if solved else 'instance'}"
    same_picture(name, lambda ax: graph(ax, instance, schedule), graph_size(instance))


def arrows(instance, schedule=None, **options):
    ax = new_figure(graph_size(instance)).subplots()
    graph(ax, instance, schedule, **options)
    return sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches)


def test_every_conjunction_and_every_undecided_pair_is_drawn():
    conjunctions = SMALL.num_operations + SMALL.num_jobs
    pairs = 1 + 3 + 3  # two operations on machine 0, three on each of the others
    assert arrows(SMALL) == conjunctions + pairs


def test_a_solution_has_one_arc_between_neighbours_and_one_critical_path():
    conjunctions = SMALL.num_operations + SMALL.num_jobs
    neighbours = SMALL.num_operations - SMALL.num_machines
    schedule = dispatch(SMALL)
    plain = arrows(SMALL, schedule, critical=False)
    assert plain == conjunctions + neighbours
    assert arrows(SMALL, schedule) > plain


def test_a_large_graph_keeps_to_a_printable_size():
    width, height = graph_size(library.load("ta71"))
    assert width <= 40
    assert height == pytest.approx(60)
