"""The animation holds what the search found, in order, and stays small."""

import pytest
from PIL import Image

from tbgat import library
from tbgat.dispatching import dispatch
from tbgat.errors import UsageError
from tbgat.plot.animation import animate
from tbgat.search.result import Improvement


@pytest.fixture(scope="module")
def frames():
    instance = library.load("ft06")
    found = [dispatch(instance, rule) for rule in ("lpt", "spt", "mwkr")]
    found.sort(key=lambda schedule: -schedule.makespan)
    return instance, [(Improvement(k, k / 10, s.makespan), s) for k, s in enumerate(found)]


def test_pictures_times_and_size(tmp_path, frames):
    instance, found = frames
    path = animate(instance, found, tmp_path / "a.gif", best_known=55, between=2, dpi=60)
    with Image.open(path) as picture:
        assert picture.n_frames == 3 + 2 * 2
        times = []
        for k in range(picture.n_frames):
            picture.seek(k)
            times.append(picture.info["duration"])
    assert times == [350, 60, 60, 350, 60, 60, 2500]
    assert path.stat().st_size < 200_000


def test_the_last_picture(tmp_path, frames, same_file):
    instance, found = frames
    path = animate(instance, found, tmp_path / "a.gif", best_known=55, between=0, dpi=60)
    with Image.open(path) as moving:
        moving.seek(2)
        moving.convert("RGB").save(tmp_path / "last.png")
    same_file("animation-last", tmp_path / "last.png")


def test_refusals(tmp_path, frames):
    instance, found = frames
    with pytest.raises(UsageError, match=r"an animation is a \.gif file"):
        animate(instance, found, tmp_path / "a.mp4")
    with pytest.raises(UsageError, match="nothing to animate"):
        animate(instance, [], tmp_path / "a.gif")
