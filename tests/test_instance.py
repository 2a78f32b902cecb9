"""The instance: general, frozen, and particular about what it takes."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from tbgat import Instance
from tbgat.errors import InstanceError
from tests.strategies import instances


def test_general_shop():
    instance = Instance(
        [[(0, 5), (2, 0), (0, 3)], [(2, 7)]],
        name="plant",
        num_machines=4,
        job_names=["red", "blue"],
    )
    assert (instance.num_jobs, instance.num_machines, instance.num_operations) == (2, 4, 4)
    assert instance.shape == "2x4"
    assert instance.durations.tolist() == [5, 0, 3, 7]
    assert instance.machines.tolist() == [0, 2, 0, 2]
    assert instance.job_offsets.tolist() == [0, 3, 4]
    assert instance.job_of.tolist() == [0, 0, 0, 1]
    assert instance.step_of.tolist() == [0, 1, 2, 0]
    assert instance.jobs == (((0, 5), (2, 0), (0, 3)), ((2, 7),))
    assert (instance.job_label(1), instance.machine_label(2)) == ("blue", "2")
    assert not instance.is_classic
    assert repr(instance) == "Instance('plant', 2x4, 4 operations)"


def test_from_arrays_is_the_same():
    durations, machines = np.array([[5, 3], [4, 2]]), np.array([[0, 1], [1, 0]])
    instance = Instance.from_arrays(durations, machines)
    assert instance == Instance([[(0, 5), (1, 3)], [(1, 4), (0, 2)]])
    assert instance.is_classic
    durations[0, 0] = 99
    assert instance.durations[0] == 5


def test_frozen():
    instance = Instance([[(0, 5)]])
    with pytest.raises(AttributeError):
        instance.name = "x"
    for array in (instance.durations, instance.machines, instance.job_offsets, instance.job_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@given(instances())
def test_equal_and_hashable_and_pickled(instance):
    again = pickle.loads(pickle.dumps(instance))
    assert again == instance
    assert hash(again) == hash(instance)
    renamed = instance.renamed(instance.name + "x")
    assert renamed != instance
    assert renamed.digest == instance.digest
    assert renamed.jobs == instance.jobs


def test_digest_is_of_the_numbers():
    plain = Instance([[(0, 5), (1, 3)]])
    assert plain.digest == Instance([[(0, 5), (1, 3)]], name="a", job_names=["b"]).digest
    others = [
        Instance([[(0, 5), (1, 4)]]),
        Instance([[(1, 5), (0, 3)]]),
        Instance([[(0, 5)], [(1, 3)]]),
        Instance([[(0, 5), (1, 3)]], num_machines=3),
    ]
    assert len({plain.digest, *(other.digest for other in others)}) == 5


def test_names_are_tidied():
    instance = Instance([[(0, 5)]], name=" plant\n4 ", job_names=["a \t b"])
    assert instance.name == "plant 4"
    assert instance.job_names == ("a b",)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Instance([]), "at least one job"),
        (lambda: Instance([[(0, 1)], []]), "job 1 has no operations"),
        (lambda: Instance([[(0, 1), (1,)]]), "job 0, operation 1: expected"),
        (lambda: Instance([[(0, 1), (1, -2)]]), "job 0, operation 1: duration -2 is negative"),
        (lambda: Instance([[(0, 1)], [(-1, 2)]]), "job 1, operation 0: machine -1 is negative"),
        (lambda: Instance([[(0, 1.5)]]), "duration 1.5 is not a whole number"),
        (lambda: Instance([[(0, float("nan"))]]), "nan is not a whole number"),
        (lambda: Instance([[(0, "x")]]), "is not a whole number"),
        (lambda: Instance([[(0, 2**60)]]), "add up"),
        (lambda: Instance([[(0, 2**70)]]), "too large"),
        (lambda: Instance([[(3, 1)]], num_machines=2), "machine 3 is out of range"),
        (lambda: Instance([[(0, 1)]], num_machines=10**9), "machines are more than"),
        (lambda: Instance([[(0, 1)]], job_names=["a", "b"]), "2 job names for 1 jobs"),
        (lambda: Instance([[(0, 1)]] * 2, job_names=["a", "a"]), "'a' is used twice"),
        (lambda: Instance([[(0, 1)]], job_names=[" "]), "name of job 0 is empty"),
        (lambda: Instance([[(0, 1)]], name="a\0b"), "control character"),
        (lambda: Instance.from_arrays([[1, 2]], [[0]]), "one shape"),
        (lambda: Instance.from_arrays([[1, 2], [1]], [[0, 1], [0]]), "rectangular"),
        (lambda: Instance.from_flat([1, 2], [0, 0], [0, 1]), "job offsets"),
    ],
)
def test_refuses(make, complaint):
    with pytest.raises(InstanceError, match=complaint):
        make()
