"""The worked example runs, and its hand-written policy beats chance."""

import re
import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_policy.py"


def test_own_policy(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    gaps = [float(x) for x in re.findall(r"mean gap ([\d.]+)%", capsys.readouterr().out)]
    assert len(gaps) == 2
    assert gaps[1] < gaps[0]
