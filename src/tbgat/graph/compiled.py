"""How this package compiles: one decorator, one cache, one announcement.

Numba's own cache notices a change in the file of a function but not in the functions it calls in
other files. Here the cache folder is named after the content of every module that holds kernels, so
that it is stale never and survives everything but a change of our own code.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Compiled functions carry no annotations.

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

# Numba fills its configuration at run time and types its decorators loosely.
_config: Any = numba.config
_njit: Any = numba.njit

__all__ = [
    "announce_compilation",
    "cache_folder",
    "float_kernel",
    "inner_float_kernel",
    "inner_kernel",
    "kernel",
    "lean_kernel",
    "next_random",
    "random_below",
]

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def cache_folder() -> Path:
    """Folder of the compiled code of exactly these sources, this Numba and this Python."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"compiled import" in source or path == Path(__file__):
            digest.update(source)
    root = os.environ.get("TBGAT_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "tbgat" / digest.hexdigest()[:16]


def kernel(function: Function) -> Function:
    """Compile a function on first use: no Python inside, the GIL released, kept on disk."""
    return _compile(function, counted=True)


def lean_kernel(function: Function) -> Function:
    """Like :func:`kernel` for a function that makes no arrays and returns none.

    Its references to arrays are not counted. With the thirty arrays of a graph that counting costs
    more than the work: measured, a search step becomes four times faster without it.
    """
    return _compile(function, counted=False)


def inner_kernel(function: Function) -> Function:
    """Like :func:`lean_kernel` for a function that only compiled functions call.

    Python cannot call it: the code for that takes a third of the time to compile.
    """
    return _compile(function, counted=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def float_kernel(function: Function) -> Function:
    """Like :func:`lean_kernel`, where sums of floats may be reordered and fused with products.

    Without that no sum can use the processor's vectors. Infinities and NaN keep their meaning.
    """
    return _compile(function, counted=False, fastmath={"contract", "reassoc", "nsz"})


def inner_float_kernel(function: Function) -> Function:
    """Like :func:`float_kernel` for a function that only compiled functions call."""
    return _compile(
        function,
        counted=False,
        fastmath={"contract", "reassoc", "nsz"},
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )


def _compile(function: Function, counted: bool, **more: Any) -> Function:
    options = {"nogil": True, "boundscheck": False, **({} if counted else {"_nrt": False}), **more}
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(cache_folder())
    try:
        compiled: Function = _njit(cache=True, **options)(function)
    except RuntimeError:
        # No folder can be written: compile in memory, as often as need be.
        compiled = _njit(**options)(function)
    finally:
        _config.CACHE_DIR = before
    return compiled


def announce_compilation(*kernels: Any) -> None:
    """Say on stderr, once, that the first use of these functions compiles them, if it will."""
    # Asked at every step: what was looked at once is passed over at once.
    if all(id(k) in _looked_at for k in kernels):
        return
    _looked_at.update(id(k) for k in kernels)
    waiting = [k for k in kernels if hasattr(k, "py_func") and not k.signatures]
    if waiting and not _announced and not all(_is_cached(k) for k in waiting):
        _announced.append(True)
        sys.stderr.write("tbgat: compiling the search engine, once (about half a minute) ...\n")
        sys.stderr.flush()


_announced: list[bool] = []
_looked_at: set[int] = set()


def _is_cached(function: Any) -> bool:
    return any(cache_folder().rglob(f"*.{function.__name__}-*.nbi"))


@inner_kernel
def next_random(state, index):
    """Advance the generator ``state[index]`` (SplitMix64) and return 64 random bits."""
    state[index] += numba.uint64(0x9E3779B97F4A7C15)
    z = state[index]
    z = (z ^ (z >> numba.uint64(30))) * numba.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numba.uint64(27))) * numba.uint64(0x94D049BB133111EB)
    return z ^ (z >> numba.uint64(31))


@inner_kernel
def random_below(state, index, bound):
    """Return a whole number uniform in ``0 .. bound - 1`` (bound < 2**31)."""
    high = next_random(state, index) >> numba.uint64(33)
    return numba.int64((high * numba.uint64(bound)) >> numba.uint64(31))
