"""The network whose opinion of the moves is shown, where torch and weights are there."""

from __future__ import annotations

import threading
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tbgat.instance import Instance
from tbgat.solvers.tbgat import DEFAULT_WEIGHTS

if TYPE_CHECKING:
    from pathlib import Path

    from tbgat.policy.network import TBGAT

__all__ = ["PolicyWeights"]


class PolicyWeights:
    """Weights by training size, read when first needed.

    Parameters
    ----------
    source
        A set, folder or file of weights; by default what the method ``tbgat`` takes. Only whoever
        starts the service says this, never a request.
    """

    def __init__(self, source: str | None = None) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._networks: dict[Path, TBGAT] = {}

    def available(self) -> bool:
        """Whether there is a network at all."""
        return self._find() is not None

    def network_for(self, instance: Instance) -> TBGAT | None:
        """Load the network trained on the size closest to an instance."""
        source = self._find()
        if source is None:
            return None
        from tbgat.policy.weights import find_weights, load_weights

        path = find_weights(source, (instance.num_jobs, instance.num_machines))
        with self._lock:
            if path not in self._networks:
                self._networks[path] = load_weights(path).network
            return self._networks[path]

    def _find(self) -> str | None:
        if self._source is not None or find_spec("torch") is None:
            return self._source
        # As policy.weights lays them out; asking it would load torch, for seconds, at every start.
        shipped = files("tbgat.policy") / "data"
        return next((name for name in DEFAULT_WEIGHTS if (shipped / name).is_dir()), None)
