"""The judge accepts every legal schedule, rejects every mutation, and files keep schedules."""

import itertools
import json
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tbgat
from tbgat import Instance, Schedule, formats
from tbgat.errors import CycleError, FormatError, ScheduleError
from tbgat.schedule_files import (
    parse_schedule,
    schedule_to_csv,
    schedule_to_dict,
    schedule_to_json,
)
from tests.strategies import instances, shops

SCHEMA = json.loads(
    (Path(tbgat.__file__).parent / "schedule.schema.json").read_text(encoding="utf-8")
)


def random_orders(instance, rng):
    """Machine orders of a random sequence that keeps every job in order: legal by construction."""
    sequence = rng.permutation(instance.job_of)
    upcoming = instance.job_offsets[:-1].tolist()
    orders = [[] for _ in range(instance.num_machines)]
    for job in sequence.tolist():
        orders[instance.machines[upcoming[job]]].append(upcoming[job])
        upcoming[job] += 1
    return orders


@st.composite
def scheduled(draw, jobs=shops):
    instance = Instance(draw(jobs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return instance, Schedule.from_machine_orders(instance, random_orders(instance, rng))


positive = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def columns(schedule):
    return {
        name: getattr(schedule, name).copy() for name in ("job", "step", "machine", "start", "end")
    }


@given(scheduled())
def test_accepts_what_legal_machine_orders_give(case):
    instance, schedule = case
    schedule.check(instance)
    assert schedule.makespan == (schedule.starts(instance) + instance.durations).max()
    again = Schedule.from_machine_orders(instance, schedule.machine_orders(instance))
    assert again.makespan <= schedule.makespan


@given(scheduled(positive), st.data())
def test_rejects_a_start_moved_earlier(case, data):
    # Starts are as early as the orders allow: none can move without hitting something or time 0.
    instance, schedule = case
    changed = columns(schedule)
    row = data.draw(st.integers(0, instance.num_operations - 1))
    changed["start"][row] -= 1
    changed["end"][row] -= 1
    with pytest.raises(ScheduleError, match=r"before its predecessor ends|while|before time 0"):
        Schedule(**changed).check(instance)


@given(scheduled(positive), st.data())
def test_rejects_an_overlap(case, data):
    instance, schedule = case
    orders = [order for order in schedule.machine_orders(instance) if len(order) > 1]
    assume(orders)
    order = data.draw(st.sampled_from(orders))
    first, second = order[0], order[1]
    assume(instance.job_of[first] != instance.job_of[second])
    starts = schedule.starts(instance)
    # Push the first into the second, and all else out of the way.
    starts[starts > starts[second]] += 1000
    starts[first] = starts[second]
    rows = Schedule.from_starts(instance, starts)
    assert any("occupies machine" in text for text in rows.violations(instance, limit=999))


@given(scheduled(), st.data())
def test_rejects_a_missing_operation(case, data):
    instance, schedule = case
    gone = data.draw(st.integers(0, instance.num_operations - 1))
    rest = {name: np.delete(values, gone) for name, values in columns(schedule).items()}
    with pytest.raises(ScheduleError, match="is missing"):
        Schedule(**rest).check(instance)


@given(scheduled(), st.data())
def test_rejects_a_doubled_operation(case, data):
    instance, schedule = case
    twice = data.draw(st.integers(0, instance.num_operations - 1))
    more = {name: np.append(values, values[twice]) for name, values in columns(schedule).items()}
    with pytest.raises(ScheduleError, match="is scheduled twice"):
        Schedule(**more).check(instance)


MUTATIONS = {
    "wrong machine": ("machine", 7, "is on machine"),
    "negative start": ("start", -3, "before time 0"),
    "wrong length": ("end", 10**6, "lasts"),
    "unknown job": ("job", 99, "there is no job 99"),
    "unknown step": ("step", 99, "has no operation 99"),
    "fraction": ("start", 0.5, "is not a whole number"),
    "not a number": ("start", float("nan"), "is not a whole number"),
    "huge": ("start", 2**62, "is out of all range"),
    "smallest of 64 bits": ("start", -(2**63), "is out of all range"),
    "beyond 64 bits": ("end", 2**70, "is out of all range"),
    "text": ("start", "soon", "is not a whole number"),
    "truth value": ("end", True, "is not a whole number"),
}


@pytest.mark.parametrize("kind", MUTATIONS)
@given(case=scheduled(), data=st.data())
def test_rejects_a_wrong_value(kind, case, data):
    instance, schedule = case
    column, value, complaint = MUTATIONS[kind]
    changed = columns(schedule)
    row = data.draw(st.integers(0, instance.num_operations - 1))
    values = changed[column].tolist()
    values[row] = value
    changed[column] = np.array(values, dtype=object if isinstance(value, str | bool) else None)
    with pytest.raises(ScheduleError, match=complaint):
        Schedule(**changed).check(instance)


def test_contradicting_machine_orders():
    instance = Instance([[(0, 1), (1, 1)], [(1, 1), (0, 1)]])
    with pytest.raises(CycleError, match="contradict each other: job 0"):
        Schedule.from_machine_orders(instance, [[3, 0], [1, 2]])
    with pytest.raises(ScheduleError, match="belongs to machine"):
        Schedule.from_machine_orders(instance, [[0, 2], [1, 3]])
    with pytest.raises(ScheduleError, match="exactly once"):
        Schedule.from_machine_orders(instance, [[0, 0], [1, 2]])


def test_busy_idle_critical():
    # Machine 0: job 0 during 0..4, job 1 during 4..5; machine 1: job 0 during 4..5.
    instance = Instance([[(0, 4), (1, 1)], [(0, 1), (1, 5)]])
    schedule = Schedule.from_machine_orders(instance, [[0, 2], [1, 3]])
    assert schedule.makespan == 10
    assert schedule.utilisation(instance).tolist() == [0.5, 0.6]
    assert schedule.idle_time(instance).tolist() == [5, 4]
    assert schedule.critical_operations(instance).tolist() == [0, 1, 2, 3]
    slack = Instance([[(0, 4), (1, 1)], [(0, 3), (1, 5)]])
    schedule = Schedule.from_machine_orders(slack, [[0, 2], [1, 3]])
    assert schedule.critical_operations(slack).tolist() == [0, 2, 3]


@given(scheduled())
def test_delaying_a_critical_operation_delays_the_end(case):
    """The meaning of critical, tried out: one unit later, orders kept, and look at the end."""
    instance, schedule = case
    critical = set(schedule.critical_operations(instance).tolist())
    orders = schedule.machine_orders(instance)
    starts = schedule.starts(instance)
    for op in range(instance.num_operations):
        assert (pushed_makespan(instance, orders, starts, op) > schedule.makespan) == (
            op in critical
        )


def pushed_makespan(instance, orders, starts, delayed):
    """Makespan when one operation starts a unit later and the others move only if they must."""
    starts = starts.copy()
    starts[delayed] += 1
    changed = True
    while changed:
        changed = False
        chains = orders + [
            list(range(a, b))
            for a, b in zip(
                instance.job_offsets[:-1].tolist(), instance.job_offsets[1:].tolist(), strict=True
            )
        ]
        for chain in chains:
            for before, after in itertools.pairwise(chain):
                ready = starts[before] + instance.durations[before]
                if starts[after] < ready:
                    starts[after] = ready
                    changed = True
    return int((starts + instance.durations).max())


@given(instances(), st.integers(0, 2**32), st.sampled_from([schedule_to_json, schedule_to_csv]))
def test_files_keep_any_schedule(instance, seed, write):
    orders = random_orders(instance, np.random.default_rng(seed))
    schedule = Schedule.from_machine_orders(instance, orders)
    assert parse_schedule(write(schedule, instance), instance) == schedule


@given(scheduled())
def test_json_follows_its_schema(case):
    instance, schedule = case
    jsonschema_rs.validate(SCHEMA, schedule_to_dict(schedule, instance))


def test_reads_start_times_alone():
    instance = Instance([[(0, 4), (1, 1)], [(1, 5)]])
    schedule = parse_schedule('{"starts": [[0, 5], [0]], "makespan": 6}', instance)
    schedule.check(instance)
    assert schedule.makespan == 6
    assert parse_schedule("job,step,start\n1,0,0\n0,0,0\n0,1,5\n", instance) == schedule


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"starts": [[0, 5], [0]], "makespan": 5}', "said to be 5 but it is 6"),
        ('{"starts": [[0, 5], [0]], "digest": "abc"}', "another instance"),
        ('{"starts": 5}', "list of start times"),
        ('{"starts": [["x", 5], [0]]}', "no usable number"),
        ('{"operations": [{"job": 0}]}', "job, step and start"),
        ('{"operations": [{"job": "z", "step": 0, "start": 0}]}', "no job 'z'"),
        ('{"jobs": []}', "neither"),
        ("job,step,start\n0,0,soon\n", "line 2: start 'soon'"),
        ("job,step,start\n9,0,0\n", "line 2: there is no job '9'"),
        ("job,step,colour\n0,0,0\n", "unknown column 'colour'"),
        ("job,step\n0,0\n", "no column for the start"),
        ("", "empty"),
    ],
)
def test_broken_schedules(text, complaint):
    instance = Instance([[(0, 4), (1, 1)], [(1, 5)]])
    with pytest.raises((FormatError, ScheduleError), match=complaint):
        parse_schedule(text, instance)


def test_wrong_schedules_are_read_and_then_judged():
    instance = Instance([[(0, 4), (1, 1)], [(1, 5)]])
    for text, complaint in {
        '{"starts": [[0, 5]]}': "job 1 operation 0 is missing",
        '{"starts": [[0, 5], [0, 7]]}': "job 1 has no operation 1",
        '{"starts": [[0.5, 5], [0]]}': "0.5 is not a whole number",
        '{"starts": [[-1, 5], [0]]}': "before time 0",
        '{"starts": [[0, 3], [5]]}': "before its predecessor ends",
        "job,step,start\n0,0,1.5\n0,1,9\n1,0,0\n": "1.5 is not a whole number",
    }.items():
        schedule = parse_schedule(text, instance)
        assert complaint in schedule.violations(instance)[0]


def test_file_by_suffix(tmp_path):
    instance = formats.parse("job,step,machine,duration\nred,1,saw,3\nblue,1,saw,4\n")
    schedule = Schedule.from_machine_orders(instance, [[0, 1]])
    for name in ("a.json", "a.csv"):
        tbgat.write_schedule(schedule, instance, tmp_path / name)
        assert "red" in (tmp_path / name).read_text()
        assert tbgat.read_schedule(tmp_path / name, instance) == schedule
