"""Who may write, and who may measure: two timed runs never share a core."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

__all__ = ["claim_cores", "take_lock"]

POLL_SECONDS = 1.0


def take_lock(path: Path) -> IO[str] | None:
    """Lock a file for this process until it is closed; None if another has it."""
    file = path.open("w")
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return file


@contextmanager
def claim_cores(
    count: int, *, folder: Path | None = None, waiting: Callable[[], None] = lambda: None
) -> Iterator[set[int]]:
    """Have ``count`` cores that no other benchmark on this machine uses, and stay on them.

    Calls ``waiting`` once if others must end first. Where the system cannot tie a process to cores,
    benchmarks simply take turns. With fewer cores than asked for, all of them are taken.
    """
    where = folder or Path(tempfile.gettempdir()) / f"tbgat-cores-{_user()}"
    where.mkdir(parents=True, exist_ok=True)
    pinnable = hasattr(os, "sched_setaffinity")
    before = os.sched_getaffinity(0) if pinnable else {0}
    wanted = min(count, len(before))
    told = False
    while True:
        with ExitStack() as locks:
            taken: set[int] = set()
            # The last core first: whatever else runs tends to sit on the first.
            for core in sorted(before, reverse=True):
                lock = take_lock(where / f"{core}.lock") if len(taken) < wanted else None
                if lock is not None:
                    locks.enter_context(lock)
                    taken.add(core)
            if len(taken) == wanted:
                if pinnable:
                    os.sched_setaffinity(0, taken)
                    locks.callback(os.sched_setaffinity, 0, before)
                yield taken
                return
        if not told:
            waiting()
            told = True
        time.sleep(POLL_SECONDS)


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "all"
