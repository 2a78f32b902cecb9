"""Compare a drawing with the picture kept for it.

``TBGAT_NEW_PICTURES=1`` keeps the new drawings instead; look at them before committing them.
"""

import os
import shutil
from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images

from tbgat.plot.files import new_figure, write_figure

BASELINE = Path(__file__).parent / "baseline"


@pytest.fixture
def same_file():
    """Hold a PNG file against ``baseline/<name>.png``."""

    def check(name, actual, tolerance=2.0, keep=True):
        expected = BASELINE / f"{name}.png"
        if keep and os.environ.get("TBGAT_NEW_PICTURES"):
            shutil.copyfile(actual, expected)
        assert expected.exists(), f"no picture kept for {name}"
        difference = compare_images(str(expected), str(actual), tolerance)
        assert difference is None, difference

    return check


@pytest.fixture
def same_picture(tmp_path, same_file):
    """Draw into an ax and hold the picture against ``baseline/<name>.png``."""

    def check(name, draw, size=(6, 3), **options):
        figure = new_figure(size)
        draw(figure.subplots())
        same_file(name, write_figure(figure, tmp_path / f"{name}.png", dpi=80), **options)

    return check
