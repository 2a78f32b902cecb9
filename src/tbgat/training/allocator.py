"""Keep freed memory in the process, so that large temporaries are not paged in anew every step.

PyTorch takes its memory from the C library, which by default returns large pieces to the system as
soon as they are free; every backward pass then begins with thousands of page faults.
"""

from __future__ import annotations

import ctypes
import sys

__all__ = ["keep_freed_memory"]

# Parameters of glibc's mallopt(3); both take an int.
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
_LARGEST = 2**31 - 1


def keep_freed_memory() -> bool:
    """Ask the C library to reuse large blocks; False where it cannot be asked (not glibc)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, _LARGEST))
