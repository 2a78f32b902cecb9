from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tbgat.bench.locks import claim_cores

HOLDER = """
import sys, time
from pathlib import Path
from tbgat.bench.locks import claim_cores
with claim_cores(int(sys.argv[2]), folder=Path(sys.argv[1])) as cores:
    print(*cores, flush=True)
    sys.stdin.readline()
"""

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="cores can be claimed on Linux alone"
)


def hold(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_claim_ties_the_process_to_its_cores_and_lets_go(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    with claim_cores(1, folder=tmp_path) as cores:
        assert os.sched_getaffinity(0) == cores
        assert len(cores) == 1
    assert os.sched_getaffinity(0) == before


def test_two_benchmarks_never_share_a_core(tmp_path: Path) -> None:
    everything = len(os.sched_getaffinity(0))
    waited: list[float] = []
    with hold(tmp_path, everything) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        taken = {int(core) for core in other.stdout.readline().split()}
        assert taken == os.sched_getaffinity(0)

        def let_go() -> None:
            waited.append(time.monotonic())
            assert other.stdin is not None
            other.stdin.write("\n")
            other.stdin.close()

        with claim_cores(1, folder=tmp_path, waiting=let_go) as cores:
            assert waited
            assert other.wait(10) == 0
            assert cores <= taken
