"""The HTTP service: what it answers, what it refuses, and what it never does."""

import json

import pytest

from tbgat import library
from tbgat.schedule_files import parse_schedule

from .conftest import wait_for

SHOP = "2 2\n0 3 1 2\n1 4 0 1\n"


@pytest.fixture(scope="module")
def client(service):
    with service.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def solved(client):
    """A finished job."""
    answer = client.post("/api/jobs", json={"library": "ft06", "method": "tabu", "steps": 3000})
    assert answer.status_code == 202
    return wait_for(client, answer.json()["id"])


def test_submit_and_fetch(client, solved):
    assert solved["state"] == "done"
    result = solved["result"]
    assert result["instance"] == "ft06"
    assert result["method"] == "tabu"
    assert result["makespan"] <= 60
    assert solved["instance"]["best_known"] == 55
    assert solved["chart"]["machine"] == library.load("ft06").machines.tolist()
    assert solved["id"] in [job["id"] for job in client.get("/api/jobs").json()]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_schedules_can_be_read_and_checked_again(client, solved, kind):
    answer = client.get(f"/api/jobs/{solved['id']}/schedule.{kind}")
    assert answer.headers["content-disposition"].endswith(f'.{kind}"')
    instance = library.load("ft06")
    schedule = parse_schedule(answer.content, instance)
    schedule.check(instance)
    assert schedule.makespan == solved["result"]["makespan"]


@pytest.mark.parametrize(
    ("file", "magic"),
    [("picture.svg", b"<?xml"), ("picture.png", b"\x89PNG"), ("report.html", b"<!doctype html>")],
)
def test_pictures_and_report(client, solved, file, magic):
    answer = client.get(f"/api/jobs/{solved['id']}/{file}")
    assert answer.status_code == 200
    assert answer.content.startswith(magic)
    if file == "report.html":
        assert "best known" in answer.text
        assert str(solved["result"]["seed"]) in answer.text


def events(client, job):
    """All events of a job until the service closes the stream."""
    found = []
    with client.stream("GET", f"/api/jobs/{job}/events") as stream:
        name = None
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                found.append((name, json.loads(line[6:])))
    return found


def test_following_a_search_shows_it_fall(client):
    ask = {"library": "ta01", "method": "tabu", "seconds": 1.0, "seed": 1}
    job = client.post("/api/jobs", json=ask).json()["id"]
    found = events(client, job)
    names = [name for name, _ in found]
    assert names[-1] == "end"
    assert found[-1][1] == {"state": "done", "error": None}
    best = [data["best"] for name, data in found if name == "progress" and data["best"]]
    assert best == sorted(best, reverse=True)
    assert best[-1] < best[0]
    fallen = [m for name, data in found if name == "progress" for _, _, m in data["improvements"]]
    assert fallen[-1] == best[-1]
    shown = [data for name, data in found if name == "schedule"]
    assert len(shown) >= 2
    assert shown[-1]["makespan"] == best[-1]
    # Afterwards the same stream tells the whole story at once.
    again = events(client, job)
    assert [name for name, _ in again] == ["progress", "schedule", "end"]
    assert again[1][1]["start"] == shown[-1]["start"]


def test_a_running_search_can_be_stopped_and_keeps_its_best(client):
    job = client.post("/api/jobs", json={"library": "ta48", "method": "tabu", "seconds": 60}).json()
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as stream:
        next(line for line in stream.iter_lines() if line == "event: schedule")
    assert client.post(f"/api/jobs/{job['id']}/cancel").status_code == 200
    ended = wait_for(client, job["id"])
    assert ended["state"] == "done"
    assert ended["result"]["stopped"] == "callback"
    assert ended["result"]["seconds"] < 30


def test_frames_moves_and_own_swaps(client, solved):
    job = solved["id"]
    frames = client.get(f"/api/jobs/{job}/frames").json()
    makespans = [frame["makespan"] for frame in frames]
    assert makespans == sorted(makespans, reverse=True)
    assert makespans[-1] == solved["result"]["makespan"]
    position = client.post(f"/api/jobs/{job}/moves", json={"start": frames[0]["start"]}).json()
    assert position["makespan"] == makespans[0]
    move = position["moves"][0]
    body = {"start": position["start"], "first": move["first"], "second": move["second"]}
    after = client.post(f"/api/jobs/{job}/moves", json=body).json()
    assert after["makespan"] == move["makespan"]
    assert after["start"] != position["start"]


def test_a_recorded_search_step_by_step(client, solved):
    job = solved["id"]
    trace = client.post(f"/api/jobs/{job}/trace?chooser=greedy&steps=20").json()
    assert len(trace["makespans"]) == trace["steps"] + 1
    for step in (0, trace["steps"]):
        position = client.get(f"/api/jobs/{job}/trace/greedy/{step}").json()
        assert position["makespan"] == trace["makespans"][step]
    assert client.get(f"/api/jobs/{job}/trace/greedy/9999").status_code == 422
    assert client.get(f"/api/jobs/{job}/trace/tabu/0").status_code == 404
    refused = client.post(f"/api/jobs/{job}/trace?chooser=greedy&steps=99999")
    assert refused.json()["detail"] == "this service records at most 2000 steps, not 99999"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"library": "ft99"}, "ft99"),
        ({"text": "2 2\n0 3 1 x\n1 4 0 1\n", "filename": "shop.txt"}, "shop.txt: line 2"),
        ({"text": ""}, "it is empty"),
        ({}, "either the name of a library instance or a text"),
        ({"library": "ft06", "text": SHOP}, "either the name of a library instance or a text"),
        ({"library": "ft06", "method": "magic"}, "there is no method 'magic'"),
        ({"library": "ft06", "seconds": 601}, "at most 600 seconds, not 601"),
        ({"library": "ft06", "threads": 3}, "at most 2 threads, not 3"),
        ({"library": "ft06", "seconds": -1}, "seconds: Input should be greater than 0"),
        ({"library": "ft06", "sekonds": 1}, "sekonds: Extra inputs are not permitted"),
    ],
)
def test_refusals_are_one_sentence(client, body, sentence):
    answer = client.post("/api/jobs", json=body)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert "\n" not in answer.json()["detail"]


def test_too_large_is_refused_declared_or_not(client):
    text = "1" * 2_100_000
    assert client.post("/api/instances", json={"text": text}).status_code == 413
    chunks = (b"x" * 100_000 for _ in range(30))
    answer = client.post("/api/instances", content=chunks)
    assert answer.status_code == 413
    assert answer.json()["detail"] == "the request is larger than 2000000 bytes"
    many = f"201 100\n{(' '.join(f'{m} 1' for m in range(100)) + chr(10)) * 201}"
    answer = client.post("/api/instances", json={"text": many})
    assert "20100 operations, this service takes at most 20000" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/__init__.py",
        "/api/jobs/..%2f..%2fjobs.sqlite",
    ],
)
def test_no_path_can_be_read(client, path):
    assert client.get(path).status_code in (404, 405)


def test_a_file_name_is_a_label_and_nothing_else(client, tmp_path):
    target = tmp_path / "secret.txt"
    target.write_text(SHOP)
    ask = {"text": SHOP, "filename": str(target)}
    assert client.post("/api/instances", json=ask).json()["name"] == "secret"
    refused = client.post("/api/instances", json={"library": str(target)})
    assert refused.status_code == 422


def test_the_page_fetches_nothing_from_elsewhere(client):
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    described = client.get("/api/openapi.json").json()
    assert "/api/jobs/{job}/events" in described["paths"]
    for name in ("app.js", "api.js", "curve.js", "run.js", "steps.js", "gantt.js", "style.css"):
        script = client.get(f"/static/{name}")
        assert script.status_code == 200
        assert "http://" not in script.text
        assert "https://" not in script.text


def test_another_page_and_another_name_are_refused(client):
    evil = {"origin": "http://evil.example"}
    assert client.post("/api/instances", json={"library": "ft06"}, headers=evil).status_code == 403
    assert client.get("/api/jobs", headers={"host": "evil.example"}).status_code == 421
    own = {"origin": str(client.base_url).rstrip("/")}
    assert client.post("/api/instances", json={"library": "ft06"}, headers=own).status_code == 200


def test_jobs_are_forgotten_on_request(client):
    job = client.post("/api/jobs", json={"text": SHOP, "method": "dispatch"}).json()["id"]
    wait_for(client, job)
    assert client.delete(f"/api/jobs/{job}").status_code == 204
    for answer in (client.get(f"/api/jobs/{job}"), client.delete(f"/api/jobs/{job}")):
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no such job")
