"""Whatever bytes a file holds: an instance, or one sentence. Never another exception."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgat import Instance, Schedule, formats
from tbgat.errors import TbgatError
from tbgat.schedule_files import parse_schedule, schedule_to_csv, schedule_to_json
from tests.strategies import instances

SCRAPS = [
    b"", b"\n", b" ", b"0", b"-1", b"9" * 20, b"1e5", b"3.5", b",", b";", b"\t", b"#",
    b'"', b"[", b"]",
    b"{", b"}", b":", b"null", b"true", b"NaN", b"\xff", b"\xc3", b"\x00", b"+++", b"\r", b"\n\n",
    b"Times\n", b"Machines\n", b"instance x\n+++\n", b"# ragged\n", b"# machines: 3\n",
    b'# job names: ["a"]\n', b"job", b"step", b"\xef\xbb\xbf", b"\xe2\x80\xa8",
]  # fmt: skip


@st.composite
def damaged(draw, texts):
    """A legal text with a few places cut, doubled or overwritten."""
    data = draw(texts)
    for _ in range(draw(st.integers(1, 4))):
        a = draw(st.integers(0, len(data)))
        b = draw(st.integers(a, min(len(data), a + 12)))
        piece = draw(st.one_of(st.sampled_from(SCRAPS), st.binary(max_size=6)))
        data = data[:a] + piece + data[b:]
    return data


def written(instance, format):
    if format == "job_shop_lib":
        return json.dumps(formats.to_job_shop_lib(instance)).encode()
    return formats.to_text(instance, format).encode()


texts = st.builds(written, instances(), st.sampled_from([*formats.FORMATS, "job_shop_lib"]))


def attempt(read, *arguments):
    """What was read, or None and the complaint."""
    try:
        return read(*arguments), ""
    except TbgatError as error:
        return None, str(error)


@settings(max_examples=150)
@given(damaged(texts), st.sampled_from([None, *formats.FORMATS]))
def test_damaged_instances(data, format):
    found, complaint = attempt(formats.parse_all, data, format)
    assert "\n" not in complaint
    assert len(complaint) < 400
    for instance in found or ():
        assert formats.parse(formats.to_text(instance, "json")) == instance


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60)))
def test_anything(data):
    for format in (None, *formats.FORMATS):
        _, complaint = attempt(formats.parse_all, data, format)
        assert "\n" not in complaint


SHOP = Instance([[(0, 5), (1, 3)], [(1, 4), (0, 2)]], job_names=["red", "0"])
SOLVED = Schedule.from_starts(SHOP, [0, 5, 0, 5])


WRITTEN = [write(SOLVED, SHOP).encode() for write in (schedule_to_json, schedule_to_csv)]


@settings(max_examples=100)
@given(damaged(st.sampled_from(WRITTEN)))
def test_damaged_schedules(data):
    schedule, complaint = attempt(parse_schedule, data, SHOP)
    assert "\n" not in complaint
    if schedule is not None:
        assert all(isinstance(text, str) for text in schedule.violations(SHOP))


def test_unknown_format():
    with pytest.raises(TbgatError, match="there is no format 'xml'"):
        formats.parse("1 1\n0 5\n", "xml")
    with pytest.raises(TbgatError, match="there is no format 'xml'"):
        formats.to_text(SHOP, "xml")
