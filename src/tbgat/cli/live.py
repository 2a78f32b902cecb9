"""The line on the terminal that shows a search at work."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tbgat.search.callbacks import Snapshot

__all__ = ["LiveLine"]

INTERVAL = 0.1


class LiveLine:
    """A callback that keeps one line of stderr up to date; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = 0.0

    def __enter__(self) -> LiveLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, snapshot: Snapshot) -> None:
        """Show the state of the search, ten times a second at most."""
        now = time.perf_counter()
        if self._shown and now >= self._next:
            self._next = now + INTERVAL
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r{describe(snapshot)[:width]}\x1b[K")
            sys.stderr.flush()


def describe(snapshot: Snapshot) -> str:
    """Put best, gap, bound and speed into one line."""
    progress = snapshot.progress
    bound = progress.lower_bound
    gap = f"{(progress.best - bound) / bound:.2%}" if bound > 0 else "?"
    rate = progress.step / max(progress.seconds, 1e-3)
    name = snapshot.instance.name or snapshot.instance.shape
    return (
        f"{name}: best {progress.best}  gap {gap}  bound {bound}  "
        f"{progress.step:,} steps  {rate:,.0f}/s  {progress.seconds:.1f} s"
    )
