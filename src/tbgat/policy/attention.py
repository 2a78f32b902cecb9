"""Graph attention with at most two in-neighbours per operation: gathers, no scatter.

The layer is that of Velickovic et al. (2018) as PyTorch Geometric's ``GATConv`` has it: one weight
matrix shared by values and attention, LeakyReLU 0.2, softmax over a node and its in-neighbours.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from tbgat.policy.structure import Structure

__all__ = ["NEGATIVE_SLOPE", "GraphAttention", "attend"]

NEGATIVE_SLOPE = 0.2


class GraphAttention(nn.Module):
    """One attention layer of both views, each with weights of its own, as one batched product.

    Parameters
    ----------
    inputs
        Width of the input.
    heads, width
        Number of heads and width of each; the output is their concatenation.
    generator
        Source of the initial weights (Glorot, as in GATConv).
    """

    def __init__(self, inputs: int, heads: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.inputs, self.heads, self.width = inputs, heads, width
        self.weight = nn.Parameter(torch.empty(2, inputs, heads * width))
        self.source = nn.Parameter(torch.empty(2, heads, width))
        self.target = nn.Parameter(torch.empty(2, heads, width))
        self.bias = nn.Parameter(torch.zeros(2, heads * width))
        for parameter in (self.weight, self.source, self.target):
            bound = math.sqrt(6.0 / (parameter.shape[1] + parameter.shape[2]))
            with torch.no_grad():
                parameter.uniform_(-bound, bound, generator=generator)

    def logit_weights(self) -> Tensor:
        """Columns that give each node's part of the logits: 2 x inputs x (heads, twice).

        The logits are linear in the input, so they need no pass over the (wider) values.
        """
        by_head = self.weight.view(2, self.inputs, self.heads, self.width)
        source = torch.einsum("vihw,vhw->vih", by_head, self.source)
        target = torch.einsum("vihw,vhw->vih", by_head, self.target)
        return torch.cat([source, target], dim=2)

    def forward(self, x: Tensor, structure: Structure, bf16: bool = False) -> Tensor:
        """Map node inputs 2 x nodes x inputs to 2 x nodes x (heads * width)."""
        if bf16:
            values = torch.bmm(x.bfloat16(), self.weight.bfloat16()).to(x.dtype)
        else:
            values = torch.bmm(x, self.weight)
        source, target = torch.bmm(x, self.logit_weights()).chunk(2, dim=2)
        return attend(values, source, target, structure) + self.bias.unsqueeze(1)


def attend(values: Tensor, source: Tensor, target: Tensor, structure: Structure) -> Tensor:
    """Mix the values of every node and its in-neighbours.

    Parameters
    ----------
    values
        2 x nodes x (heads * width).
    source, target
        2 x nodes x heads: parts of the logit of an arc by its tail and by its head.

    Returns
    -------
    2 x nodes x (heads * width).
    """
    heads = source.shape[2]
    count, graphs = structure.num_operations, structure.num_graphs
    rows, sources = values.flatten(0, 1), source.flatten(0, 1)

    def near(table: Tensor, index: Tensor) -> Tensor:
        return table.index_select(0, index.flatten()).view(*index.shape, -1)

    own = source[:, :count]
    by_job, by_machine = near(sources, structure.job), near(sources, structure.machine)
    logits = torch.stack([own, by_job, by_machine], dim=3) + target[:, :count].unsqueeze(3)
    logits = functional.leaky_relu(logits, NEGATIVE_SLOPE)
    present = torch.ones_like(structure.has_machine)
    mask = torch.stack([present, present, structure.has_machine], dim=2).unsqueeze(2)
    weights = logits.masked_fill(~mask, -math.inf).softmax(dim=3)

    def spread(weight: Tensor, value: Tensor) -> Tensor:
        by_head = value.view(*value.shape[:-1], heads, -1)
        return (weight.unsqueeze(-1) * by_head).flatten(-2)

    operations = (
        spread(weights[..., 0], values[:, :count])
        + spread(weights[..., 1], near(rows, structure.job))
        + spread(weights[..., 2], near(rows, structure.machine))
    )

    sinks = slice(count + graphs, None)
    joined = torch.cat([source[:, sinks].unsqueeze(2), near(sources, structure.ends)], dim=2)
    logits = functional.leaky_relu(joined + target[:, sinks].unsqueeze(2), NEGATIVE_SLOPE)
    itself = torch.ones_like(structure.has_end[:, :, :1])
    mask = torch.cat([itself, structure.has_end], dim=2).unsqueeze(3)
    weights = logits.masked_fill(~mask, -math.inf).softmax(dim=2)
    inputs = torch.cat([values[:, sinks].unsqueeze(2), near(rows, structure.ends)], dim=2)
    sunk = spread(weights, inputs).sum(dim=2)

    return torch.cat([operations, values[:, count : count + graphs], sunk], dim=1)
