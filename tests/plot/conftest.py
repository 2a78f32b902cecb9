"""Compare a drawing with the picture kept for it."""

import os
from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images

from tbgat.plot.files import new_figure, write_figure

BASELINE = Path(__file__).parent / "baseline"


@pytest.fixture
def same_picture(tmp_path):
    """Draw into an ax and hold it against ``baseline/<name>.png``.

    ``TBGAT_NEW_PICTURES=1`` keeps the new drawing instead; look at it before committing it.
    """

    def check(name, draw, size=(6, 3), tolerance=2.0, keep=True):
        actual, expected = tmp_path / f"{name}.png", BASELINE / f"{name}.png"
        new = keep and os.environ.get("TBGAT_NEW_PICTURES")
        for target in [expected, actual] if new else [actual]:
            figure = new_figure(size)
            draw(figure.subplots())
            write_figure(figure, target, dpi=80)
        assert expected.exists(), f"no picture kept for {name}"
        difference = compare_images(str(expected), str(actual), tolerance)
        assert difference is None, difference

    return check
