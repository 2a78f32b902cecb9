"""Every method by name. A new one is a small module with one function, and one line here.

A method's module has ``solve(task, **options) -> Outcome``. It may also have

- ``prepare()``: load or compile what the first call needs; not counted as search time;
- ``solve_many(tasks, **options) -> list[Outcome]``: solve a batch better than one by one;
- ``weights_of(instance, **options) -> dict[str, str]``: name and checksum of the network weights
  it would use, for the record of a benchmark.

Other packages add theirs with :func:`register`.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import Any

from tbgat.errors import UsageError
from tbgat.instance import Instance
from tbgat.search.task import Outcome

__all__ = [
    "Method",
    "describe_methods",
    "find_method",
    "method_names",
    "option_value",
    "register",
]


@dataclass(frozen=True)
class Method:
    """A way to solve: where its code is, and one sentence on it."""

    name: str
    module: str
    summary: str

    @property
    def solve(self) -> Callable[..., Outcome]:
        """The function that solves one task."""
        return self._function("solve")

    @property
    def solve_many(self) -> Callable[..., Sequence[Outcome]] | None:
        """The function that solves a batch, if the method has one."""
        return getattr(import_module(self.module), "solve_many", None)

    def prepare(self) -> None:
        """Load or compile what the first call needs."""
        function = getattr(import_module(self.module), "prepare", None)
        if function is not None:
            function()

    def weights(self, instance: Instance, options: Mapping[str, Any]) -> dict[str, str]:
        """Name and checksum of the network weights it would use; empty if it has none."""
        function = getattr(import_module(self.module), "weights_of", None)
        return {} if function is None else dict(function(instance, **options))

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options this method does not know, and values of the wrong kind."""
        parameters = dict(list(inspect.signature(self.solve).parameters.items())[1:])
        for option, value in options.items():
            if option not in parameters:
                offer = f"it has {', '.join(parameters)}" if parameters else "it has none"
                raise UsageError(f"method {self.name} has no option {option!r} ({offer})")
            wanted = _misfit(value, parameters[option].annotation)
            if wanted:
                raise UsageError(
                    f"option {option!r} of method {self.name} must be {wanted}, got {value!r}"
                )

    def _function(self, name: str) -> Callable[..., Outcome]:
        function: Callable[..., Outcome] = getattr(import_module(self.module), name)
        return function


def option_value(text: str) -> Any:
    """The value of an option as written on the command line: JSON or Python, else a word."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text


def _misfit(value: object, annotation: object) -> str:
    """What an option should be that is annotated so, in words, if the value is not; else "".

    Kinds that the command line cannot write are not looked at.
    """
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kind = name.removesuffix(" | None")
    if kind not in _KINDS or (value is None and kind != name):
        return ""
    words, fits = _KINDS[kind]
    return "" if fits(value) else words


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(isinstance(part, Integral) for part in value)
    )


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", lambda value: isinstance(value, Integral)),
    "bool": ("true or false", lambda value: value in (0, 1)),
    "str": ("a name", lambda value: isinstance(value, str)),
    "tuple[int, int]": ("two whole numbers such as [10,20]", _is_pair),
}

_METHODS: dict[str, Method] = {}


def register(name: str, module: str, summary: str) -> None:
    """Add a method, or put another module in the place of one."""
    _METHODS[name] = Method(name, module, summary)


def method_names() -> list[str]:
    """All names, in the order of registration."""
    return list(_METHODS)


def describe_methods() -> dict[str, str]:
    """All names with a sentence on each."""
    return {method.name: method.summary for method in _METHODS.values()}


def find_method(name: str) -> Method:
    """Look a method up by name."""
    if name not in _METHODS:
        raise UsageError(f"there is no method {name!r}; there are {', '.join(_METHODS)}")
    return _METHODS[name]


register("auto", "tbgat.solvers.auto", "choose by size and what is installed")
register("dispatch", "tbgat.solvers.dispatch", "one dispatching rule, no search")
register("random", "tbgat.solvers.random_walk", "random N5 moves")
register("greedy", "tbgat.solvers.greedy", "best improvement over N5 with random restarts")
register("tabu", "tbgat.solvers.tabu", "tabu search over N5")
register("cpsat", "tbgat.solvers.cpsat", "constraint programming with OR-Tools CP-SAT")
register("pyjobshop", "tbgat.solvers.pyjobshop", "PyJobShop's default solver, for comparison")
register("tbgat", "tbgat.solvers.tbgat", "local search over N5 by the trained network")
register("tspr", "tbgat.solvers.tspr", "tabu search on N7 moves with path relinking")
