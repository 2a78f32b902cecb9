"""TBGAT: forward and backward embedding, merge, and the score of every move (Section 4)."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tbgat.errors import UsageError
from tbgat.policy.attention import GraphAttention
from tbgat.policy.differentiable import embed_moves_and_graphs
from tbgat.policy.features import Observation, check_move_features
from tbgat.policy.move_features import EXACT_FEATURES, MOVE_FEATURES
from tbgat.policy.structure import Structure
from tbgat.policy.trials import TRIAL_FEATURES

__all__ = ["PRESETS", "PRIOR", "PRODUCTS", "TBGAT", "NetworkConfig", "check_products"]

RAW_FEATURES = 3


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the network.

    Attributes
    ----------
    heads
        Attention heads of every layer but the last, which has one.
    width
        Width of a head, and of a node's embedding in each view.
    layers
        Attention layers per view. With none there is no graph in it: the shortcut alone scores.
    hidden
        Hidden layers of the scoring network; if empty, 4, 2, 1 and 1/2 times the width.
    move_features
        Further inputs of the scoring network, see :data:`~tbgat.policy.features.MOVE_FEATURES`.
    shortcut
        Whether the move features also reach the score directly, by a linear map. It starts as a
        soft tabu search (:data:`PRIOR`), which the rest of the network then learns to correct.
    shortcut_units
        Units of one hidden layer (softsign) in the shortcut, beside its linear map.
    sharpness
        Factor of the shortcut's scores: the larger, the closer a draw is to the highest score.
    tries
        Moves that the compiled walk of a network without layers makes on trial before it decides;
        with 0 or 1 it decides by the scores alone.
    look_ahead
        Moves of the highest score that follow each move on trial before it is judged.
    trial_steps
        Steps at the start of a search that make moves on trial. In a long run, more moves in the
        same time are worth more than better ones.
    trial_features
        What it then looks at, see :data:`~tbgat.policy.trials.TRIAL_FEATURES`. Their score, a map
        of the same form as the shortcut, adds to that of the move.
    """

    heads: int = 4
    width: int = 128
    layers: int = 3
    hidden: tuple[int, ...] = ()
    move_features: tuple[str, ...] = ("recent",)
    shortcut: bool = False
    shortcut_units: int = 0
    sharpness: float = 1.0
    tries: int = 0
    look_ahead: int = 0
    trial_steps: int = 0
    trial_features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if min(self.heads, self.width, *self.hidden, 1) < 1 or self.width < 2:
            raise UsageError(f"network sizes must be positive, got {self}")
        if min(self.layers, self.shortcut_units) < 0:
            raise UsageError(f"network sizes must not be negative, got {self}")
        if not self.shortcut and (self.layers == 0 or self.shortcut_units):
            raise UsageError("a network without layers or with shortcut units needs the shortcut")
        if self.layers and (self.tries or self.trial_features):
            raise UsageError("only a network without layers makes moves on trial")
        if (self.tries > 1) != bool(self.trial_features):
            raise UsageError("two or more tries and trial features come together")
        if min(self.tries, self.look_ahead, self.trial_steps) < 0 or self.sharpness <= 0:
            raise UsageError(f"settings of trials must not be negative, got {self}")
        for name in self.trial_features:
            if name not in TRIAL_FEATURES:
                known = ", ".join(TRIAL_FEATURES)
                raise UsageError(f"unknown trial feature {name!r}; known are {known}")
        object.__setattr__(self, "move_features", check_move_features(self.move_features))
        default = (4 * self.width, 2 * self.width, self.width, self.width // 2)
        hidden = (tuple(self.hidden) or default) if self.layers else ()
        object.__setattr__(self, "hidden", hidden)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a weights card."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> NetworkConfig:
        """Inverse of :meth:`to_dict`."""
        known = {f.name for f in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise UsageError(f"unknown network setting {unknown[0]!r}")
        plain: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
        }
        return cls(**plain)

    def replace(self, **changes: Any) -> NetworkConfig:
        """Copy with some sizes changed."""
        return dataclasses.replace(self, **changes)


_THREE = ("recent", "makespan_change", "makespan_to_best")

_LATER = ("tabu", "room")

PRIOR = {"makespan_change": -6.0, "estimate_change": -6.0, "age": -3.0, "recent": -2.0}
"""What the shortcut starts with: prefer short makespans, avoid what undoes a recent swap."""

TRIAL_PRIOR = {"tabu": -5.0, "estimate_change": -1.0, "room": 0.1, "moves_made": -1.0 / 6.0}
"""The same of a network that makes moves on trial: the opening of the method ``tabu``."""

NEXT_PRIOR = {"next_change": -1.0, "beats_best": 10.0}
"""What the score of a trial starts with: prefer what can be followed well."""

PRESETS: dict[str, NetworkConfig] = {
    "paper": NetworkConfig(),
    "paper-nolabel": NetworkConfig(move_features=()),
    "paper-8heads": NetworkConfig(heads=8),
    "small": NetworkConfig(width=32, move_features=_THREE),
    "tiny": NetworkConfig(width=16, move_features=_THREE),
    "plus": NetworkConfig(
        width=32, move_features=(*_THREE, "age", "slack_before", "slack_after"), shortcut=True
    ),
    "moves": NetworkConfig(
        layers=0,
        move_features=tuple(
            name for name in MOVE_FEATURES if name not in (*EXACT_FEATURES, *_LATER)
        ),
        shortcut=True,
        shortcut_units=8,
    ),
    "trials": NetworkConfig(
        layers=0,
        move_features=(
            "tabu", "estimate_change", "estimate_to_best", "improves", "beats_best", "room",
            "moves_made", "crowding", "age", "age_decay", "moved_u", "moved_v", "moved_long",
            "first", "last", "block_front", "block_back", "seen",
        ),
        shortcut=True,
        sharpness=40.0,
        tries=3,
        look_ahead=4,
        trial_steps=5000,
        trial_features=tuple(TRIAL_FEATURES),
    ),
}  # fmt: skip
"""Named sizes. ``moves`` sees no graph, only features of the moves.

``paper`` has the recency label, as the runs behind the paper's figures had."""


PRODUCTS = ("float32", "lowrank", "bfloat16")
"""How the products of the inner layers may be computed.

``lowrank`` computes that of layer 2 from the coordinates of layer 1's rows along a few directions
(:mod:`tbgat.policy.basis`): a quarter of the work, about one part in 10,000 off; where the compiled
layers do not run it is as exact as ``float32``. ``bfloat16`` pays where the hardware has it.
"""


def check_products(products: str) -> None:
    """Refuse what is not among :data:`PRODUCTS`."""
    if products not in PRODUCTS:
        raise UsageError(f"unknown products {products!r}; known are {', '.join(PRODUCTS)}")


class TBGAT(nn.Module):
    """Scores for the moves of a batch of solutions.

    Parameters
    ----------
    config
        Sizes, or the name of a preset.
    generator
        Source of the initial weights; seeded with 0 if not given.
    """

    def __init__(
        self, config: NetworkConfig | str = "paper", *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        if isinstance(config, str):
            if config not in PRESETS:
                raise UsageError(f"unknown preset {config!r}; known are {', '.join(PRESETS)}")
            config = PRESETS[config]
        self.config = config
        generator = generator or torch.Generator().manual_seed(0)
        inputs, layers = RAW_FEATURES, list[nn.Module]()
        for depth in range(config.layers):
            heads = 1 if depth + 1 == config.layers else config.heads
            layers.append(GraphAttention(inputs, heads, config.width, generator))
            inputs = heads * config.width
        self.embedding = nn.ModuleList(layers)
        features = len(config.move_features)
        widths = [8 * config.width + features, *config.hidden, 1] if config.layers else []
        self.scoring = nn.ModuleList(
            _linear(a, b, generator) for a, b in itertools.pairwise(widths)
        )
        if config.shortcut:
            known = TRIAL_PRIOR if config.tries > 1 else PRIOR
            prior = [known.get(name, 0.0) for name in config.move_features]
            self.shortcut = nn.Parameter(torch.tensor(prior))
        if config.shortcut_units:
            self.shortcut_inner = _linear(features, config.shortcut_units, generator)
            self.shortcut_outer = nn.Parameter(torch.zeros(config.shortcut_units))
        if config.tries > 1:
            prior = [NEXT_PRIOR.get(name, 0.0) for name in config.trial_features]
            self.trial = nn.Parameter(torch.tensor(prior))
            if config.shortcut_units:
                self.trial_inner = _linear(len(prior), config.shortcut_units, generator)
                self.trial_outer = nn.Parameter(torch.zeros(config.shortcut_units))

    @property
    def layers(self) -> list[GraphAttention]:
        """The attention layers, first to last."""
        return cast(list[GraphAttention], list(self.embedding))

    @property
    def linears(self) -> list[nn.Linear]:
        """The layers of the scoring network, first to last."""
        return cast(list[nn.Linear], list(self.scoring))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def forward(self, observation: Observation, products: str = "float32") -> Tensor:
        """Score every move of every state, flat, in the order of ``observation.move_u``.

        The products of the inner layers, nearly all of the work, may be computed in other ways than
        in float32, see :data:`PRODUCTS`. Nothing else is: raw features and scores differ by less
        than bfloat16 resolves.

        The moves of one state are made comparable by a softmax over them alone, see
        :func:`~tbgat.policy.moves.log_probabilities`.
        """
        if observation.move_feature_names != self.config.move_features:
            raise UsageError(
                f"the network wants the move features {list(self.config.move_features)}, the "
                f"observation has {list(observation.move_feature_names)}"
            )
        if not self.config.layers:
            return self._direct_score(self._tensor(observation.move_features))
        return self.score(self.embed(observation, products), observation)

    def embed(self, observation: Observation, products: str = "float32") -> Tensor:
        """The attention layers alone: 2 x (2 * moves + graphs) x width.

        Rows: the first operations of all moves, their second ones, the graphs.
        """
        check_products(products)
        if self.runs_compiled:
            return embed_moves_and_graphs(self.layers, observation, products)
        return self._embed_generally(observation, products == "bfloat16")

    @property
    def runs_compiled(self) -> bool:
        """Whether the compiled layers serve this network: on a CPU in float32, two layers or more.

        Anything else takes the general layers.
        """
        if self.config.layers < 2:
            return False
        weight = self.layers[0].weight
        return weight.device.type == "cpu" and weight.dtype == torch.float32

    def _embed_generally(self, observation: Observation, bf16: bool = False) -> Tensor:
        """What :func:`embed_moves_and_graphs` gives, on any device in any precision."""
        structure = Structure.of(observation, self.device)
        x = structure.features.to(self.layers[0].weight.dtype)
        *inner, last = self.layers
        for depth, layer in enumerate(inner):
            x = functional.elu(layer(x, structure, bf16 and depth > 0))
        x = last(x, structure)
        sums = x.new_zeros(2, structure.num_graphs, self.config.width)
        sums = sums.index_add(1, structure.graph, x)
        means = sums / structure.sizes.to(x.dtype)[:, None]
        u, v = self._tensor(observation.move_u), self._tensor(observation.move_v)
        return torch.cat([x.index_select(1, u), x.index_select(1, v), means], dim=1)

    def score(self, embedding: Tensor, observation: Observation) -> Tensor:
        """The scoring network alone, given what :meth:`embed` returns.

        Its input is (node u, graph, node v, graph, move features); the graph's part of the first
        product is the same for all moves of a state.
        """
        moves, features = len(observation.move_u), len(self.config.move_features)
        u, v, graph = torch.split(
            torch.cat([embedding[0], embedding[1]], dim=1), [moves, moves, len(observation)]
        )
        first, *rest = self.linears
        parts = torch.split(first.weight, [2 * self.config.width] * 4 + [features], dim=1)
        by_graph = functional.linear(graph, parts[1] + parts[3], first.bias)
        state = np.repeat(np.arange(len(observation)), observation.num_moves)
        pair = functional.linear(torch.cat([u, v], dim=1), torch.cat([parts[0], parts[2]], dim=1))
        x = pair + by_graph.index_select(0, self._tensor(state))
        given = self._tensor(observation.move_features).to(x.dtype)
        if features:
            x = x + functional.linear(given, parts[4])
        for layer in rest:
            x = layer(torch.tanh(x))
        scores = x.squeeze(1)
        return scores + self._direct_score(given) if self.config.shortcut else scores

    def _direct_score(self, features: Tensor) -> Tensor:
        """What the move features contribute past the graph."""
        features = features.to(self.shortcut.dtype)
        scores = features @ self.shortcut
        if self.config.shortcut_units:
            scores = (
                scores + functional.softsign(self.shortcut_inner(features)) @ self.shortcut_outer
            )
        return self.config.sharpness * scores

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def _linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """A linear layer with PyTorch's usual initial weights, drawn from our own generator."""
    layer = nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")
    bound = 1.0 / math.sqrt(inputs)
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        layer.bias.uniform_(-bound, bound, generator=generator)
    return layer
