"""``tbgat plot``: every picture by one command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tbgat.cli.common import INSTANCE_HELP, find_instance
from tbgat.errors import UsageError

if TYPE_CHECKING:
    from tbgat.instance import Instance
    from tbgat.schedule import Schedule
    from tbgat.search.callbacks import Callback
    from tbgat.search.result import Result

__all__ = ["add_arguments", "run"]

DEFAULT_SECONDS = 2.0

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand per picture."""
    parser.description = (
        "Draw into a file; its suffix says which kind: .png, .svg, .pdf, for Gantt charts and "
        "searches also .html (interactive, works offline), for animations .gif."
    )
    pictures = parser.add_subparsers(dest="picture", metavar="PICTURE", required=True)

    gantt = _picture(pictures, "gantt", "a Gantt chart of a schedule")
    _add_instance(gantt)
    _add_schedule(gantt)
    gantt.add_argument("--by", choices=("machine", "job"), default="machine", help="rows")
    gantt.add_argument("--no-critical", action="store_true", help="outline no critical path")

    graph = _picture(pictures, "graph", "the disjunctive graph of an instance or a solution")
    _add_instance(graph)
    _add_schedule(graph)
    graph.add_argument("--undecided", action="store_true", help="the instance alone, unsolved")

    search = _picture(pictures, "search", "how the makespan fell, by steps and seconds")
    _add_instance(search)
    search.add_argument("--log", action="store_true", help="logarithmic time")
    _add_search(search)

    compare = _picture(pictures, "compare", "several methods on one instance")
    _add_instance(compare)
    compare.add_argument(
        "--methods", default="dispatch,greedy,tabu", help="comma between (default: %(default)s)"
    )
    compare.add_argument("--log", action="store_true", help="logarithmic time")
    compare.add_argument("--against", choices=("seconds", "step"), default="seconds")
    _add_limits(compare)

    learning = _picture(pictures, "learning", "learning curves from training logs")
    learning.add_argument("logs", nargs="+", metavar="LOG", help="JSONL file of a training")
    learning.add_argument("-x", default="instances", help="column (default: %(default)s)")
    learning.add_argument("-y", default="validation_gap", help="column (default: %(default)s)")

    animation = _picture(pictures, "animation", "a search as a GIF")
    _add_instance(animation)
    _add_search(animation)
    animation.add_argument(
        "--frames", type=int, default=24, help="schedules shown at most (default: %(default)s)"
    )


def _picture(pictures: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = pictures.add_parser(name, help=text, description=text)
    suffix = ".gif" if name == "animation" else ".png"
    parser.add_argument(
        "-o", "--out", type=Path, default=Path(f"{name}{suffix}"), help="default: %(default)s"
    )
    return parser


def _add_instance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instance", metavar="INSTANCE", help=INSTANCE_HELP)


def _add_schedule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--schedule", metavar="FILE", help="draw this one (JSON or CSV) instead of searching"
    )
    _add_search(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", default="auto", help="default: %(default)s")
    _add_limits(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, help=f"default: {DEFAULT_SECONDS:g}")
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--threads", type=int, help="threads of the search")


def run(args: argparse.Namespace) -> int:
    """Draw, and say where."""
    from tbgat.plot.files import IMAGE_SUFFIXES, check_suffix

    drawn = (*IMAGE_SUFFIXES, ".html")
    kinds = {"animation": (".gif",), "gantt": drawn, "search": drawn, "compare": drawn}
    # Before a search, not after it.
    check_suffix(args.out, kinds.get(args.picture, IMAGE_SUFFIXES))
    print(_DRAW[args.picture](args))
    return 0


def _gantt(args: argparse.Namespace) -> Path:
    from tbgat.plot import save

    instance = find_instance(args.instance)
    known = _best_known(instance)
    options: dict[str, Any] = {"best_known": known}
    if args.out.suffix.lower() != ".html":
        options |= {"by": args.by, "critical": not args.no_critical}
    if args.schedule:
        return save(_read(args.schedule, instance), args.out, instance=instance, **options)
    return save(_solve(args, instance, args.method), args.out, **options)


def _graph(args: argparse.Namespace) -> Path:
    from tbgat.plot.files import new_figure, write_figure
    from tbgat.plot.graph import graph, graph_size

    instance = find_instance(args.instance)
    schedule: Schedule | None = None
    if args.schedule:
        schedule = _read(args.schedule, instance)
    elif not args.undecided:
        schedule = _solve(args, instance, args.method).schedule
    figure = new_figure(graph_size(instance))
    graph(figure.subplots(), instance, schedule)
    return write_figure(figure, args.out)


def _search(args: argparse.Namespace) -> Path:
    from tbgat.plot.curves import search
    from tbgat.plot.files import curves_html, new_figure, write_figure, write_file

    instance = find_instance(args.instance)
    result = _solve(args, instance, args.method)
    known = _best_known(instance)
    if args.out.suffix.lower() == ".html":
        return write_file(args.out, curves_html([result], best_known=known).encode())
    figure = new_figure((9, 3.6))
    left, right = figure.subplots(1, 2)
    search(left, result, against="step", best_known=known, log=args.log)
    search(right, result, against="seconds", best_known=known, log=args.log)
    return write_figure(figure, args.out)


def _compare(args: argparse.Namespace) -> Path:
    from tbgat.plot.curves import compare
    from tbgat.plot.files import curves_html, new_figure, write_figure, write_file

    instance = find_instance(args.instance)
    methods = [name.strip() for name in args.methods.split(",") if name.strip()]
    results = [_solve(args, instance, method) for method in methods]
    known = _best_known(instance)
    if args.out.suffix.lower() == ".html":
        page = curves_html(results, against=args.against, best_known=known)
        return write_file(args.out, page.encode())
    figure = new_figure((7, 4))
    compare(
        figure.subplots(),
        results,
        against=args.against,
        best_known=known,
        log=args.log,
    )
    return write_figure(figure, args.out)


def _learning(args: argparse.Namespace) -> Path:
    from tbgat.plot.curves import learning
    from tbgat.plot.files import new_figure, write_figure

    figure = new_figure((7, 4))
    ax = figure.subplots()
    for path in args.logs:
        # The folder tells the runs apart: they all call their file the same.
        label = Path(path).resolve().parent.name if len(args.logs) > 1 else None
        learning(ax, path, x=args.x, y=args.y, label=label)
    return write_figure(figure, args.out)


def _animation(args: argparse.Namespace) -> Path:
    from tbgat.plot.animation import animate
    from tbgat.search.callbacks import Recorder

    if args.frames < 1:
        raise UsageError(f"an animation needs at least one frame, not {args.frames}")
    instance = find_instance(args.instance)
    recorder = Recorder()
    result = _solve(args, instance, args.method, [recorder])
    if args.steps is not None and args.seconds is None:
        # A search by steps repeats: ask for every schedule it passed, not only those it reported.
        frames = [
            (found, _solve(args, instance, args.method, steps=found.step).schedule)
            for found in _evenly(result.history, args.frames)
        ]
    else:
        frames = _evenly(recorder.frames or [(result.history[-1], result.schedule)], args.frames)
    return animate(
        instance,
        frames,
        args.out,
        lower_bound=result.lower_bound,
        best_known=_best_known(instance),
    )


def _evenly(found: Sequence[T], count: int) -> list[T]:
    """At most ``count``, spread over all, the first and the last always."""
    wanted = min(count, len(found))
    places = {round(k * (len(found) - 1) / max(wanted - 1, 1)) for k in range(wanted)}
    return [found[place] for place in sorted(places)]


def _solve(
    args: argparse.Namespace,
    instance: Instance,
    method: str,
    callbacks: list[Callback] | None = None,
    steps: int | None = None,
) -> Result:
    from tbgat.solvers import solve

    seconds = args.seconds
    if seconds is None and args.steps is None:
        seconds = DEFAULT_SECONDS
    return solve(
        instance,
        method,
        seconds=seconds,
        steps=args.steps if steps is None else steps,
        seed=args.seed,
        threads=args.threads,
        callbacks=callbacks or [],
    )


def _read(path: str, instance: Instance) -> Schedule:
    from tbgat.schedule_files import read_schedule

    schedule = read_schedule(path, instance)
    schedule.check(instance)
    return schedule


def _best_known(instance: Instance) -> int | None:
    from tbgat import library

    name = library.identify(instance)
    return library.bounds(name).upper_bound if name else None


_DRAW: dict[str, Callable[[argparse.Namespace], Path]] = {
    "gantt": _gantt,
    "graph": _graph,
    "search": _search,
    "compare": _compare,
    "learning": _learning,
    "animation": _animation,
}
