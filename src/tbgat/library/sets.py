"""Generated sets with references: what the learner validates on, and the paper's test sets.

One compressed file per set holds the instances themselves (so that no later version of a random
generator can change them) and per instance the best makespan known and whether it is proven
optimal. ``tools/make_sets.py`` writes them and improves the references.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from tbgat.errors import UsageError
from tbgat.instance import Instance

__all__ = ["SETS", "InstanceSet", "load_set", "pack", "unpack"]

SETS = ("synthetic", "validation")


@dataclass(frozen=True)
class InstanceSet:
    """Instances of one size, with the best makespan known of each.

    Attributes
    ----------
    makespans
        Best known, never below the optimum.
    proven
        Whether that is the optimum.
    seed
        What the instances were drawn from.
    """

    name: str
    size: tuple[int, int]
    instances: tuple[Instance, ...]
    makespans: npt.NDArray[np.int64]
    proven: npt.NDArray[np.bool_]
    seed: int

    def head(self, count: int) -> InstanceSet:
        """The first instances only."""
        return replace(
            self,
            instances=self.instances[:count],
            makespans=self.makespans[:count],
            proven=self.proven[:count],
        )


def load_set(name: str) -> dict[tuple[int, int], InstanceSet]:
    """Read a shipped set: one :class:`InstanceSet` per size."""
    if name not in SETS:
        raise UsageError(f"there is no set {name!r}, there are {', '.join(SETS)}")
    return dict(_load(name))


@cache
def _load(name: str) -> dict[tuple[int, int], InstanceSet]:
    return unpack(name, files("tbgat.library").joinpath(f"{name}.npz").read_bytes())


def unpack(name: str, data: bytes) -> dict[tuple[int, int], InstanceSet]:
    """Inverse of :func:`pack`."""
    result = {}
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        for key in archive.files:
            word, _, field = key.partition("/")
            if field != "durations":
                continue
            jobs, machines = (int(number) for number in word.split("x"))
            durations, routes = archive[key], archive[f"{word}/machines"]
            instances = tuple(
                Instance.from_arrays(p, m, name=f"{name}-{word}-{i + 1:03d}", num_machines=machines)
                for i, (p, m) in enumerate(zip(durations, routes, strict=True))
            )
            result[jobs, machines] = InstanceSet(
                name=name,
                size=(jobs, machines),
                instances=instances,
                makespans=archive[f"{word}/makespans"].astype(np.int64),
                proven=archive[f"{word}/proven"],
                seed=int(archive[f"{word}/seed"]),
            )
    return result


def pack(sets: dict[tuple[int, int], InstanceSet]) -> bytes:
    """Write sets of classic instances with durations below 256 into one compressed archive."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for (jobs, machines), group in sorted(sets.items()):
        word = f"{jobs}x{machines}"
        shape = (len(group.instances), jobs, machines)
        stacked = np.stack([i.durations for i in group.instances]).reshape(shape)
        arrays[f"{word}/durations"] = stacked.astype(np.uint8)
        stacked = np.stack([i.machines for i in group.instances]).reshape(shape)
        arrays[f"{word}/machines"] = stacked.astype(np.uint8)
        arrays[f"{word}/makespans"] = group.makespans.astype(np.uint16)
        arrays[f"{word}/proven"] = group.proven
        arrays[f"{word}/seed"] = np.array(group.seed)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
