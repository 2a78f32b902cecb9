"""Work on several threads, each of which lets PyTorch use that thread alone.

Two threads that each run whole steps scale better than one whose every product is cut in two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from tbgat.policy.network import TBGAT

__all__ = ["add_gradients", "single_threaded", "together"]

Value = TypeVar("Value")

_POOLS: dict[int, ThreadPoolExecutor] = {}


def together(tasks: Sequence[Callable[[], Value]]) -> list[Value]:
    """Run the first task on this thread and each other on one of its own; wait for all.

    Call it inside :func:`single_threaded`, which speaks for this thread; the others have one
    thread each anyway.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    pool = _single_threaded_pool(len(tasks) - 1)
    futures = [pool.submit(task) for task in tasks[1:]]
    try:
        first = tasks[0]()
    finally:
        # The others use the same buffers: none may be left running, whatever happened here.
        rest = [future.exception() for future in futures]
    for error in rest:
        if error is not None:
            raise error
    return [first, *(future.result() for future in futures)]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let PyTorch use one thread for what this thread asks of it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def add_gradients(
    network: TBGAT, losses: Sequence[Callable[[], Tensor]], threads: int = 1
) -> list[float]:
    """Add the gradients of several independent losses to the network's; return their values.

    Parameters
    ----------
    losses
        Each builds one loss from the network, such as that of a small batch of states. They are
        dealt to the threads in turn, so the result depends on the number of threads by rounding
        alone and on nothing else.
    """
    parameters = [p for p in network.parameters() if p.requires_grad]
    shares = [losses[i::threads] for i in range(min(threads, len(losses)))]
    if not shares:
        return []
    with single_threaded():
        results = together([partial(_gradients, parameters, share) for share in shares])
    values = [0.0] * len(losses)
    for i, (some, gradients) in enumerate(results):
        values[i::threads] = some
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient
    return values


def _gradients(
    parameters: Sequence[Tensor], losses: Sequence[Callable[[], Tensor]]
) -> tuple[list[float], list[Tensor]]:
    values: list[float] = []
    sums = [torch.zeros_like(parameter) for parameter in parameters]
    for build in losses:
        loss = build()
        found = torch.autograd.grad(loss, list(parameters), allow_unused=True)
        for total, gradient in zip(sums, found, strict=True):
            if gradient is not None:
                total += gradient
        values.append(float(loss.detach()))
    return values, sums


def _single_threaded_pool(threads: int) -> ThreadPoolExecutor:
    """One pool per number of threads, in which PyTorch does not cut its products further."""
    if threads not in _POOLS:
        before = torch.get_num_threads()
        pool = ThreadPoolExecutor(
            threads,
            thread_name_prefix="tbgat-policy",
            initializer=torch.set_num_threads,
            initargs=(1,),
        )
        pool.submit(int).result()
        # PyTorch keeps the number per thread, but a thread that sets it also sets the default.
        torch.set_num_threads(before)
        _POOLS[threads] = pool
    return _POOLS[threads]
