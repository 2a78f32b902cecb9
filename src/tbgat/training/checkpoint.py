"""The state of a training run on disk: one file, replaced whole, never a pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch

from tbgat.errors import TbgatError, WeightsError

__all__ = ["CheckpointError", "load_state", "save_state", "write_atomically"]


class CheckpointError(TbgatError):
    """The state of a training run could not be written or read."""


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a crash at any moment leaves the old one or the new one."""
    scratch = path.with_name(f".{path.name}.new")
    try:
        with scratch.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise CheckpointError(
            f"{path} could not be written ({error.strerror}); what was saved before is untouched"
        ) from None


def save_state(
    path: Path, policy: torch.nn.Module, optimiser: torch.optim.Adam, position: dict[str, Any]
) -> None:
    """Write weights, Adam's moments and the position in the run."""
    from safetensors.torch import save

    tensors = {f"weights.{name}": value for name, value in policy.state_dict().items()}
    for name, parameter in policy.named_parameters():
        moments = optimiser.state.get(parameter, {})
        for key, value in moments.items():
            tensors[f"adam.{key}.{name}"] = torch.as_tensor(value)
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    write_atomically(path, save(contiguous, metadata={"position": json.dumps(position)}))


def load_state(path: Path, policy: torch.nn.Module, optimiser: torch.optim.Adam) -> dict[str, Any]:
    """Put weights and moments back and return the position."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            position: dict[str, Any] = json.loads((file.metadata() or {})["position"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except (OSError, KeyError, ValueError, SafetensorError) as error:
        raise WeightsError(f"{path} is no readable training state: {error}") from None
    weights = {
        n.removeprefix("weights."): t for n, t in tensors.items() if n.startswith("weights.")
    }
    try:
        policy.load_state_dict(weights)
    except RuntimeError:
        raise WeightsError(f"{path} holds another network than this run's") from None
    for name, parameter in policy.named_parameters():
        moments = {
            key.split(".", 2)[1]: value
            for key, value in tensors.items()
            if key.startswith("adam.") and key.split(".", 2)[2] == name
        }
        if moments:
            optimiser.state[parameter] = moments
    return position
