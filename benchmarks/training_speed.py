"""A training batch of ours against the literal algorithm written with PyG's GATConv.

    python benchmarks/training_speed.py         # writes results/training_speed.json

Ours: a whole batch (instances, T steps, an update after every n of them) as ``tbgat train`` runs
it. The opponent is Algorithm 1 as it is written, with the identical network from PyTorch
Geometric's GATConv (``tbgat.policy.pyg_reference``): n forward passes that keep what the gradients
need, one backward pass behind them, one step of Adam. It gets the states that our batch meets, laid
out as its tensors for free, and needs no engine. It has its turns between our windows, in two
processes of its own: one as PyTorch comes, and one with the setting of the C library's allocator
that ours has. Its mean window is taken T / n times.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch

from tbgat import generate
from tbgat.bench.card import environment_card
from tbgat.policy.moves import entropies, log_probabilities
from tbgat.policy.network import TBGAT
from tbgat.policy.pyg_reference import PygNetwork, PygState
from tbgat.training.allocator import keep_freed_memory
from tbgat.training.config import TrainingConfig
from tbgat.training.reinforce import Episode, Window, learn, normalised_returns

WANTED = 15.0
OUT = Path(__file__).resolve().parent.parent / "results" / "training_speed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument(
        "--every", type=int, default=10, help="windows between the opponent's turns"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    result = compare(options.batch, options.steps, options.threads, options.every)
    print(
        f"batch of {options.batch}, {options.threads} thread(s): "
        f"ours {result['ours_seconds']:.1f} s, PyG {result['pyg_seconds']:.0f} s: "
        f"{result['ratio']:.1f} times (wanted {WANTED:g}); PyG with our allocator setting "
        f"{result['pyg_tuned_seconds']:.0f} s: {result['ratio_tuned']:.1f} times"
    )
    command = "python benchmarks/training_speed.py"
    card = environment_card([0], command=command, load=os.getloadavg())
    options.out.write_text(json.dumps({"card": card, **result}, indent=1) + "\n")


def compare(batch: int, steps: int, threads: int, every: int) -> dict[str, float]:
    """Train on one batch, and let the opponent have its turns in between."""
    torch.set_num_threads(threads)
    keep_freed_memory()
    opponents = [_opponent(threads, tuned) for tuned in (False, True)]
    config = TrainingConfig(batch=batch, steps=steps)
    policy = TBGAT(config.preset)
    optimiser = torch.optim.Adam(policy.parameters(), lr=config.lr)
    rng = np.random.default_rng(0)
    # Load or compile everything first.
    warm = _episode(config, rng, threads)
    learn(policy, optimiser, warm.window(policy, config.window), config, threads)
    first = warm.window(policy, config.window)
    for opponent in opponents:
        opponent.submit(opponents_window, policy, first, config).result()

    begin = time.perf_counter()
    episode = _episode(config, rng, threads)
    ours, earning = time.perf_counter() - begin, []
    theirs: list[list[float]] = [[], []]
    for number in range(steps // config.window):
        begin = time.perf_counter()
        window = episode.window(policy, config.window)
        learn(policy, optimiser, window, config, threads)
        ours += time.perf_counter() - begin
        earning.append(float((window.rewards > 0).any(axis=0).mean()))
        if number % every == 0:
            for opponent, seconds in zip(opponents, theirs, strict=True):
                seconds.append(opponent.submit(opponents_window, policy, window, config).result())
    for opponent in opponents:
        opponent.shutdown()
    windows = steps // config.window
    plain, tuned = (windows * statistics.mean(seconds) for seconds in theirs)
    return {
        "batch": batch,
        "steps": steps,
        "threads": threads,
        "ours_seconds": ours,
        "pyg_seconds": plain,
        "ratio": plain / ours,
        "pyg_tuned_seconds": tuned,
        "ratio_tuned": tuned / ours,
        "wanted": WANTED,
        "earning_windows": statistics.mean(earning),
    }


def _episode(config: TrainingConfig, rng: np.random.Generator, threads: int) -> Episode:
    instances = [generate.uniform(10, 10, rng) for _ in range(config.batch)]
    return Episode(instances, rng, threads=threads, products=config.products)


def _opponent(threads: int, tuned: bool) -> ProcessPoolExecutor:
    """A process of its own, with our allocator setting or without."""
    return ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(threads, tuned)
    )


def _prepare(threads: int, tuned: bool) -> None:
    torch.set_num_threads(threads)
    if tuned:
        keep_freed_memory()


def opponents_window(policy: TBGAT, window: Window, config: TrainingConfig) -> float:
    """Seconds of the innermost lines of Algorithm 1 on the states of a window."""
    network = PygNetwork(policy)
    optimiser = torch.optim.Adam(network.parameters(), lr=config.lr)
    states = [PygState.of(seen) for seen in window.observations]
    returns = torch.from_numpy(normalised_returns(window.rewards)).float()
    begin = time.perf_counter()
    loss = torch.zeros(())
    for t, (seen, state) in enumerate(zip(window.observations, states, strict=True)):
        log_pi = log_probabilities(network(state), seen.move_offsets)
        alive = window.actions[t] >= 0
        chosen = log_pi[torch.from_numpy((seen.move_offsets[:-1] + window.actions[t])[alive])]
        gain = (chosen * returns[t, torch.from_numpy(alive)]).sum()
        loss = loss - gain - config.entropy * entropies(log_pi, seen.move_offsets).sum()
    (loss / config.batch).backward()
    optimiser.step()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
