"""The allocator keeps what is freed: measured in a process of its own."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys, torch
from tbgat.training.allocator import keep_freed_memory
torch.set_num_threads(1)
if sys.argv[1] == "keep" and not keep_freed_memory():
    print("unable")
    sys.exit()
for _ in range(5):
    torch.ones(16_000_000).sum()
faults = []
for _ in range(3):  # the system may take pages back in between, now and then
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        torch.ones(16_000_000).sum()
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(min(faults))
"""


def faults(what: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, what], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_large_temporaries_are_reused() -> None:
    kept = faults("keep")
    if kept == "unable":
        pytest.skip("the C library is not glibc")
    # 64 MB are 15,625 pages of 4 kB, or 31 of 2 MB.
    assert int(kept) < int(faults("return")) / 4
