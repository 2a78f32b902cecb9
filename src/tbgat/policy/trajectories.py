"""The decision process of the paper over a batch of solutions (Section 4.1).

State: a solution. Action: an N5 move. Reward: what the best makespan falls by. A trajectory ends
where no move is left because the solution is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tbgat.errors import CycleError
from tbgat.graph.state import DEFAULT_MEMORY, GraphBatch, random_states
from tbgat.instance import Instance
from tbgat.policy.features import move_positions
from tbgat.schedule import Schedule

__all__ = ["NO_MOVE", "Trajectories"]

NO_MOVE = "no N5 move is left: the critical path is the work of one machine or of one job"

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class Trajectories:
    """Solutions side by side, each moved by whoever chooses among its moves.

    Parameters
    ----------
    instances, starts
        One first schedule per trajectory; an instance may appear many times.
    rngs
        One generator per trajectory, so that none depends on its neighbours.
    threads
        Threads that share the evaluation.
    memory
        How many swaps back a swap counts as recent.

    Attributes
    ----------
    batch
        The solutions, their levels and moves up to date.
    best
        Smallest makespan of each trajectory so far.
    proved
        Whether the present solution of each trajectory is optimal: no move is left.
    at, offsets
        Where the moves stand in ``batch.arrays.move_*``; those of trajectory b are
        ``offsets[b] .. offsets[b + 1] - 1`` of them.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        starts: Sequence[Schedule],
        rngs: Sequence[np.random.Generator],
        *,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
    ) -> None:
        self.batch = GraphBatch.from_schedules(instances, starts, memory=memory, threads=threads)
        self._rngs = list(rngs)
        self._paths = np.concatenate([random_states(1, rng) for rng in rngs])
        self.best: Int64 = self.batch.arrays.makespan.copy()
        self._best_start = self.batch.arrays.est.copy()
        self.proved = np.zeros(len(self.batch), dtype=np.bool_)
        self._forced = np.zeros(len(self.batch), dtype=np.bool_)
        self.look()

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def stuck(self) -> npt.NDArray[np.bool_]:
        """Trajectories without a move whose solution is not proved optimal.

        Recirculation and zero durations make them; :meth:`move` then swaps some legal pair.
        """
        return np.asarray((self.batch.arrays.move_count == 0) & ~self.proved)

    def look(self) -> None:
        """Bring levels and moves up to date."""
        self.batch.levels()
        self.batch.neighbourhood(self._paths)
        self.at, self.offsets = move_positions(self.batch)
        empty = self.batch.arrays.move_count == 0
        self.proved = empty & (self.batch.proved_optimal | self._forced) if empty.any() else empty

    def move(self, chosen: npt.ArrayLike) -> Int64:
        """Make one move per trajectory and return the rewards.

        Parameters
        ----------
        chosen
            Per trajectory the number of a move, counted over the whole batch, or -1 to leave it.
            Stuck trajectories that are left get a random legal swap if their entry is -2.
        """
        g = self.batch.arrays
        index = np.asarray(chosen, dtype=np.int64)
        u, v = np.full(len(self), -1, dtype=np.int32), np.full(len(self), -1, dtype=np.int32)
        moved = index >= 0
        u[moved], v[moved] = g.move_u[self.at[index[moved]]], g.move_v[self.at[index[moved]]]
        self.batch.swap(u, v)
        for b in np.flatnonzero(index == -2).tolist():
            self._forced[b] = not self._shake(b)
        reward: Int64 = np.maximum(self.best - g.makespan, 0)
        for b in np.flatnonzero(reward).tolist():
            mine = slice(g.offset[b], g.offset[b + 1])
            self._best_start[mine] = g.est[mine]
        self.best = self.best - reward
        self.look()
        return reward

    def best_schedule(self, b: int) -> Schedule:
        """Best schedule of one trajectory."""
        offset = self.batch.arrays.offset
        starts = self._best_start[offset[b] : offset[b + 1]].copy()
        return Schedule.from_starts(self.batch.instances[b], starts)

    def _shake(self, b: int) -> bool:
        """Swap some adjacent pair of different jobs, critical or not.

        Returns False if there is none: every machine order is forced, this is the only solution.
        """
        g = self.batch.arrays
        for u in self._rngs[b].permutation(np.arange(g.offset[b], g.offset[b + 1])):
            v = g.machine_succ[u]
            if v < 0 or g.job[u] == g.job[v]:
                continue
            first, second = np.full((2, len(self)), -1, dtype=np.int32)
            first[b], second[b] = u, v
            try:
                self.batch.swap(first, second)
            except CycleError:
                continue
            return True
        return False
