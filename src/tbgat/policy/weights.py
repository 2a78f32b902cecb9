"""Weights of a network in one file: tensors (safetensors) and a card (JSON), under one checksum.

Nothing in such a file is ever executed. A *set* of weights is a folder of such files, trained on
different sizes; an instance gets those whose training size is closest, and of several those that
were trained on the fewest sizes. The sets that come with the package are found by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tbgat.errors import MissingExtraError, TbgatError, WeightsError
from tbgat.policy.network import RAW_FEATURES, TBGAT, NetworkConfig

__all__ = ["Weights", "find_weights", "load_weights", "read_card", "save_weights", "weight_sets"]

FORMAT = "tbgat-weights-1"
SUFFIX = ".safetensors"
DATA = Path(__file__).with_name("data")
# A header longer than this is no card of ours.
MAX_HEADER = 1 << 20


@dataclass(frozen=True)
class Weights:
    """A network with its weights, and the card that says where they come from."""

    network: TBGAT
    card: dict[str, Any]


def save_weights(path: str | Path, network: TBGAT, card: Mapping[str, Any]) -> None:
    """Write weights and card to one file, replacing it whole, and a readable copy of the card.

    Parameters
    ----------
    path
        Ends in ``.safetensors``; the copy of the card goes beside it as ``.json``.
    card
        Plain values: ``sizes`` (such as ``["10x10"]``) decides which instances get these weights;
        ``preset``, ``instances``, ``seed``, ``commit``, ``validation`` and ``date`` tell people.
    """
    save = _safetensors().torch.save
    path = Path(path)
    if path.suffix != SUFFIX:
        raise WeightsError(f"{path}: the name of a weights file ends in {SUFFIX}")
    tensors = {
        name: value.detach().to("cpu", torch.float32).contiguous()
        for name, value in network.state_dict().items()
    }
    whole = {**card, "format": FORMAT, "network": network.config.to_dict()}
    _sizes_of(path, whole)
    whole["sha256"] = _checksum(tensors, whole)
    text = json.dumps(whole, indent=1, sort_keys=True)
    _replace(path, save(tensors, metadata={"card": text}))
    _replace(path.with_suffix(".json"), text.encode() + b"\n")


def load_weights(
    source: str | Path,
    *,
    size: tuple[int, int] | None = None,
    into: TBGAT | None = None,
) -> Weights:
    """Load weights by name, file or folder.

    Parameters
    ----------
    source
        A set that comes with the package, a file, or a folder of files.
    size
        Jobs and machines of the instance to solve: the closest training size is taken.
    into
        Fill this network, which must have the same sizes, instead of a new one.
    """
    path = find_weights(source, size)
    card = read_card(path)
    load = _safetensors().torch.load
    try:
        tensors: dict[str, Tensor] = load(path.read_bytes())
    except Exception:
        # The library has several exceptions for damaged files; all mean the same to people.
        raise WeightsError(f"{path}: the file is damaged or cut short") from None
    if _checksum(tensors, card) != card.get("sha256"):
        raise WeightsError(f"{path}: the checksum is wrong, the file was damaged or changed")
    try:
        config = NetworkConfig.from_dict(card["network"])
    except (TbgatError, TypeError, ValueError, AttributeError) as error:
        raise WeightsError(f"{path}: the card describes no network of ours: {error}") from None
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if config.layers > len(tensors) or shapes != _shapes(config):
        raise WeightsError(f"{path}: the tensors are not those of the network on the card")
    if into is not None and into.config != config:
        raise WeightsError(f"{path} holds weights of another network: {config}")
    network = TBGAT(config) if into is None else into
    network.load_state_dict(tensors)
    return Weights(network, card)


def find_weights(source: str | Path, size: tuple[int, int] | None = None) -> Path:
    """Find the file that :func:`load_weights` would read."""
    path = Path(source)
    if path.suffix == SUFFIX:
        if not path.is_file():
            raise WeightsError(f"there is no weights file {path}")
        return path
    if path.is_file():
        raise WeightsError(f"{path} is no weights file: its name should end in {SUFFIX}")
    folder = path if path.is_dir() else DATA / path.name
    files = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not files:
        there = ", ".join(weight_sets()) or "none yet"
        raise WeightsError(
            f"there are no weights named {str(source)!r} (there are: {there}); train some with "
            f"'tbgat train --out DIR' and give DIR/best{SUFFIX}"
        )
    if size is None or len(files) == 1:
        return files[0]
    by_sizes = {file: _sizes_of(file, read_card(file)) for file in files}
    return min(files, key=lambda f: (_distance(by_sizes[f], size), len(by_sizes[f]), f))


def weight_sets() -> list[str]:
    """Names of the sets that come with the package."""
    return sorted({file.parent.name for file in DATA.glob(f"*/*{SUFFIX}")})


def read_card(path: str | Path) -> dict[str, Any]:
    """Read the card of a weights file, not the weights."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= MAX_HEADER:
                raise ValueError
            header = json.loads(file.read(length))
        card = json.loads(header["__metadata__"]["card"])
        if not isinstance(card, dict) or card["format"] != FORMAT:
            raise ValueError
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise WeightsError(f"{path} is no weights file of tbgat") from None
    return card


def _sizes_of(path: Path, card: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Training sizes on a card."""
    try:
        pairs = [str(size).split("x") for size in card["sizes"]]
        sizes = [(int(jobs), int(machines)) for jobs, machines in pairs]
    except (KeyError, TypeError, ValueError):
        sizes = []
    if not sizes:
        raise WeightsError(f"{path}: the card names no training sizes such as ['10x10']")
    return sizes


def _distance(sizes: list[tuple[int, int]], size: tuple[int, int]) -> int:
    return min(abs(jobs - size[0]) + abs(machines - size[1]) for jobs, machines in sizes)


def _shapes(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """Shapes of all tensors, before any memory is taken for them."""
    shapes: dict[str, tuple[int, ...]] = {}
    inputs = RAW_FEATURES
    for depth in range(config.layers):
        heads = config.heads if depth + 1 < config.layers else 1
        outputs = heads * config.width
        shapes[f"embedding.{depth}.weight"] = (2, inputs, outputs)
        shapes[f"embedding.{depth}.source"] = (2, heads, config.width)
        shapes[f"embedding.{depth}.target"] = (2, heads, config.width)
        shapes[f"embedding.{depth}.bias"] = (2, outputs)
        inputs = outputs
    features = len(config.move_features)
    inputs = 8 * config.width + features
    for depth, outputs in enumerate([*config.hidden, 1] if config.layers else []):
        shapes[f"scoring.{depth}.weight"] = (outputs, inputs)
        shapes[f"scoring.{depth}.bias"] = (outputs,)
        inputs = outputs
    if config.shortcut:
        shapes["shortcut"] = (features,)
    if config.shortcut_units:
        shapes["shortcut_inner.weight"] = (config.shortcut_units, features)
        shapes["shortcut_inner.bias"] = (config.shortcut_units,)
        shapes["shortcut_outer"] = (config.shortcut_units,)
    if config.tries > 1:
        trial = len(config.trial_features)
        shapes["trial"] = (trial,)
        if config.shortcut_units:
            shapes["trial_inner.weight"] = (config.shortcut_units, trial)
            shapes["trial_inner.bias"] = (config.shortcut_units,)
            shapes["trial_outer"] = (config.shortcut_units,)
    return shapes


def _checksum(tensors: Mapping[str, Tensor], card: Mapping[str, Any]) -> str:
    """SHA-256 over the card (but for the checksum) and all tensors, names and shapes included."""
    rest = {key: value for key, value in card.items() if key != "sha256"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.view(torch.uint8).numpy().tobytes() if tensor.ndim else b"")
    return digest.hexdigest()


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one."""
    scratch = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise WeightsError(f"{path} cannot be written: {error.strerror}") from None


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ModuleNotFoundError:
        raise MissingExtraError("reading and writing weights", "torch") from None
    return safetensors
