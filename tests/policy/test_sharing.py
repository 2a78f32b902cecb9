import threading
import time

import numpy as np
import pytest

from tbgat.graph.compiled import lean_kernel
from tbgat.policy.sharing import (
    close_call,
    counters,
    enter_call,
    finish_task,
    leave_call,
    open_call,
    take_task,
    wait_for_call,
    wait_for_stage,
)

STAGES, TASKS = 5, 40


@lean_kernel
def run(shared, number, helps, table, done, helped):
    """Each task of a stage sums the stage before: right only if that was complete."""
    if not helps:
        open_call(shared, number)
    else:
        number = wait_for_call(shared, 0)
    while number != 0:
        if not helps or enter_call(shared, number):
            for stage in range(STAGES):
                task = take_task(shared, stage)
                while task < TASKS:
                    total = 1
                    if stage > 0:
                        for other in range(TASKS):
                            total += table[stage - 1, other]
                    table[stage, task] = total
                    done[stage, task] += 1
                    task = finish_task(shared, stage)
                wait_for_stage(shared, stage, TASKS)
            helped[0] += helps
        if not helps:
            close_call(shared)
            break
        leave_call(shared)
        number = wait_for_call(shared, number)


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_stages_follow_each_other_and_every_task_is_done_once(helpers):
    shared = counters(STAGES)
    table, done = np.zeros((2, STAGES, TASKS), dtype=np.int64)
    helped = np.zeros(1, dtype=np.int64)
    over = threading.Event()

    def help_on():
        while not over.is_set():
            run(shared, 0, True, table, done, helped)

    threads = [threading.Thread(target=help_on) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    expected = [1]
    for _ in range(STAGES - 1):
        expected.append(1 + TASKS * expected[-1])
    call, end = 0, time.monotonic() + 30.0
    try:
        # A call is over in microseconds: go on until a helper was in time for some.
        while call < 200 or (helpers and helped[0] < 50 and time.monotonic() < end):
            call += 1
            table[:] = 0
            run(shared, call, False, table, done, helped)
            np.testing.assert_array_equal(table, np.repeat(expected, TASKS).reshape(STAGES, -1))
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert (done == call).all()
    assert (helped[0] > 0) == (helpers > 0)


def test_nobody_enters_a_closed_call():
    shared = counters(STAGES)
    table, done = np.zeros((2, STAGES, TASKS), dtype=np.int64)
    helped = np.zeros(1, dtype=np.int64)
    run(shared, 1, False, table, done, helped)
    run(shared, 1, True, table, done, helped)
    assert helped[0] == 0
    assert (done == 1).all()
