"""``tbgat train``: train a policy, or draw its learning curve."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tbgat.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from tbgat.generate.sizes import Sizes
    from tbgat.training.run import TrainingRun

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; the defaults are the paper's."""
    add = parser.add_argument
    add("--out", type=Path, metavar="DIR", help="folder of the run")
    add("--resume", action="store_true", help="go on with the run in DIR, whatever ended it")
    add("--plot", type=Path, metavar="DIR", nargs="+", help="draw the learning curves of runs")
    add("--sizes", metavar="JxM,...", help="training sizes, such as 10x10,15x10")
    add("--jobs", type=int, help="one size: number of jobs")
    add("--machines", type=int, help="one size: number of machines")
    add("--mixed", action="store_true", help="all sizes in every batch instead of taking turns")
    learners = ("reinforce", "evolution", "imitation", "improvement")
    add("--learner", choices=learners, default="reinforce")
    add("--teacher", default="moves", metavar="WEIGHTS", help="imitation: whom to follow")
    add("--passes", type=int, default=0, help="lessons: of the scoring network alone")
    add("--rollouts", type=int, default=8, help="improvement: of every move")
    add("--tau", type=float, default=0.05, help="improvement: what a gain in percent is divided by")
    add("--preset", default="paper", help="network, such as paper, paper-nolabel, plus, moves")
    add("--units", type=int, help="hidden units of the shortcut, instead of the preset's")
    add("--move-features", metavar="NAME,...", help="instead of the preset's ('' for none)")
    add("--init", metavar="WEIGHTS", help="start from these weights (name or file)")
    add("--lr", type=float, default=1e-5, help="learning rate")
    add("--lr-end", type=float, help="learning rate at the end (half a cosine in between)")
    add("--batch", type=int, default=64, help="instances per batch")
    add("--instances", type=int, default=128_000, help="instances altogether")
    add("--steps", type=int, default=500, help="moves per instance (T)")
    add("--window", type=int, default=10, help="moves between two updates (n)")
    add("--entropy", type=float, default=1e-5, help="weight of the entropy term (EC)")
    add("--clip", type=float, default=0.0, help="largest norm of a gradient, 0 for none")
    add("--products", default="lowrank", help="large products: lowrank, float32 or bfloat16")
    add("--literal", action="store_true", help="gradients through every window, as in Algorithm 1")
    add("--pairs", type=int, default=24, help="evolution: perturbations per generation")
    add("--sigma", type=float, default=0.2, help="evolution: their deviation")
    add(
        "--marks",
        default="500,2000",
        metavar="STEPS,...",
        help="evolution, improvement: when results count",
    )
    add("--validate-every", type=int, default=10, metavar="BATCHES")
    add("--validation", type=int, default=200, metavar="INSTANCES", help="per size; 0 for none")
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=2)
    add("--device", default="cpu")
    add("--minutes", type=float, help="stop after about this long; --resume goes on")
    add("--tensorboard", action="store_true", help="also write TensorBoard events into DIR")


def run(args: argparse.Namespace) -> int:
    """Train, or draw."""
    if args.plot:
        return _plot(args.plot)
    if args.out is None:
        raise UsageError("say where the run goes: --out DIR")
    from tbgat.training.run import TrainingRun, train

    if args.resume:
        current = TrainingRun.resume(args.out, device=args.device)
    else:
        current = TrainingRun.start(args.out, _config(args), init=args.init, device=args.device)
    listeners: list[Callable[[dict[str, Any]], None]] = [_ProgressLine(current)]
    if args.tensorboard:
        listeners.append(_TensorBoard(args.out))

    def listen(record: dict[str, Any]) -> None:
        for listener in listeners:
            listener(record)

    try:
        train(current, threads=args.threads, minutes=args.minutes, listen=listen)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    best = f", best validation gap {current.best_gap:.2f} %" if current.best_gap < 1e9 else ""
    sys.stdout.write(
        f"{current.batch} of {current.config.batches} batches done{best}; "
        f"the run is in {args.out}, --resume goes on\n"
    )
    return 0


def _config(args: argparse.Namespace) -> Any:
    from tbgat.generate.sizes import parse_sizes
    from tbgat.training.config import TrainingConfig

    if args.sizes and (args.jobs or args.machines):
        raise UsageError("give --sizes, or --jobs and --machines, not both")
    if bool(args.jobs) != bool(args.machines):
        raise UsageError("--jobs and --machines go together")
    sizes: Sizes = ((10, 10),)
    if args.sizes:
        sizes = parse_sizes(args.sizes)
    elif args.jobs:
        sizes = ((args.jobs, args.machines),)
    names = None
    if args.move_features is not None:
        names = tuple(word.strip() for word in args.move_features.split(",") if word.strip())
    fields = {field.name for field in dataclasses.fields(TrainingConfig)}
    given = {name: value for name, value in vars(args).items() if name in fields}
    try:
        marks = tuple(int(word) for word in args.marks.split(","))
    except ValueError:
        raise UsageError(f"--marks takes numbers of steps, got {args.marks!r}") from None
    options = {**given, "sizes": sizes, "move_features": names, "marks": marks}
    return TrainingConfig(**options)


class _ProgressLine:
    """One line on stderr, rewritten after every batch: rate, time left, latest gap."""

    def __init__(self, run: TrainingRun) -> None:
        self._run = run
        self._first = run.batch
        self._started = time.monotonic()
        self._gap = ""

    def __call__(self, record: dict[str, Any]) -> None:
        total, done = self._run.config.batches, record["batch"]
        pace = (time.monotonic() - self._started) / (done - self._first)
        left = pace * (total - done)
        if "validation_gap" in record:
            self._gap = f", gap {record['validation_gap']:.2f} % (best {self._run.best_gap:.2f})"
        text = (
            f"batch {done}/{total}, {pace:.1f} s each, {left / 3600:.1f} h left, "
            f"gain {record['gain']:.1%}{self._gap}"
        )
        end = "" if sys.stderr.isatty() else "\n"
        start = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(start + text + end)
        sys.stderr.flush()


class _TensorBoard:
    """Scalars of every batch as TensorBoard events."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtraError("TensorBoard logging", "train") from None
        self._writer: Any = SummaryWriter(str(folder / "tensorboard"))

    def __call__(self, record: dict[str, Any]) -> None:
        for name, value in record.items():
            if isinstance(value, float):
                self._writer.add_scalar(name, value, record["instances"])
        self._writer.flush()


def _plot(folders: list[Path]) -> int:
    from tbgat.plot.curves import learning
    from tbgat.plot.files import new_figure, write_figure

    target = folders[0] / "learning.png"
    figure = new_figure((8, 5))
    ax = figure.add_subplot()
    for folder in folders:
        learning(ax, folder / "log.jsonl", label=folder.name)
    write_figure(figure, target)
    sys.stdout.write(f"{target}\n")
    return 0
