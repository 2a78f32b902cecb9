"""The service under load, under kill -9, and where others can reach it."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tbgat.cli import main as tbgat
from tbgat.web.limits import Limits
from tbgat.web.store import Store

from .conftest import wait_for


def submit_at_once(address, count):
    """Send ``count`` submissions concurrently; return the answers."""
    ask = {"library": "ta01", "method": "tabu", "seconds": 0.05, "seed": 1}

    async def main():
        limits = httpx.Limits(max_connections=count)
        async with httpx.AsyncClient(base_url=address, limits=limits, timeout=300) as client:
            return await asyncio.gather(*(client.post("/api/jobs", json=ask) for _ in range(count)))

    # On a thread of its own: the browser's loop may be running on this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, main()).result()


def test_two_hundred_at_once_over_a_queue_of_twenty(start):
    service = start("--queue", "20", "--workers", "1", "--kept", "500")
    with service.client() as client:
        # Compiles what has to be compiled, so that the load meets a service at work.
        first = client.post("/api/jobs", json={"library": "ft06", "method": "tabu", "steps": 9})
        wait_for(client, first.json()["id"])
        slow = {"library": "ta48", "method": "tabu", "seconds": 60}
        blocker = client.post("/api/jobs", json=slow).json()["id"]
        while client.get(f"/api/jobs/{blocker}").json()["state"] == "queued":
            pass
        answers = submit_at_once(service.address, 200)
        accepted = [a.json()["id"] for a in answers if a.status_code == 202]
        refused = [a for a in answers if a.status_code == 429]
        assert len(accepted) == 20
        assert len(refused) == 180
        assert refused[0].headers["retry-after"] == "5"
        assert "20 jobs are waiting already" in refused[0].json()["detail"]
        client.post(f"/api/jobs/{blocker}/cancel")
        ended = [wait_for(client, job) for job in accepted]
        assert [job["state"] for job in ended] == ["done"] * 20
        listed = [job["id"] for job in client.get("/api/jobs").json()]
        assert sorted(listed) == sorted([*accepted, blocker, first.json()["id"]])


def test_kill_and_start_again(start):
    service = start("--workers", "1")
    with service.client() as client:
        done = client.post("/api/jobs", json={"library": "ft06", "method": "tabu", "steps": 500})
        kept = wait_for(client, done.json()["id"])
        slow = {"library": "ta48", "method": "tabu", "seconds": 60}
        running = client.post("/api/jobs", json=slow).json()["id"]
        waiting = client.post("/api/jobs", json=slow).json()["id"]
        while client.get(f"/api/jobs/{running}").json()["state"] == "queued":
            pass
    service.kill()
    again = start()
    with again.client() as client:
        assert client.get(f"/api/jobs/{kept['id']}").json() == kept
        assert client.get(f"/api/jobs/{kept['id']}/schedule.json").status_code == 200
        assert client.get(f"/api/jobs/{kept['id']}/frames").json()
        for job in (running, waiting):
            found = client.get(f"/api/jobs/{job}").json()
            assert found["state"] == "interrupted"
            assert found["error"] == "the service was stopped before this job had ended"
            missing = client.get(f"/api/jobs/{job}/schedule.json")
            assert missing.status_code == 409
        new = client.post("/api/jobs", json={"library": "ft06", "method": "dispatch"}).json()["id"]
        assert wait_for(client, new)["state"] == "done"


def test_an_orderly_stop_keeps_the_best_so_far(start):
    service = start("--workers", "1")
    with service.client() as client:
        slow = {"library": "ta01", "method": "tabu", "seconds": 60}
        job = client.post("/api/jobs", json=slow).json()["id"]
        with client.stream("GET", f"/api/jobs/{job}/events") as stream:
            next(line for line in stream.iter_lines() if line == "event: schedule")
    service.stop()
    store = Store(service.database)
    found = store.get(job)
    store.close()
    assert found.state == "done"
    assert found.result["makespan"] > 0


def test_where_others_can_reach_it_a_token_is_demanded(start):
    service = start("--host", "0.0.0.0")
    token = service.address.partition("?token=")[2]
    assert len(token) >= 32
    with service.client() as client:
        for path in (
            "/",
            "/api/jobs",
            "/static/app.js",
            "/?token=wrong",
            f"/api/jobs?token={token}",
        ):
            answer = client.get(path)
            assert answer.status_code == 401
            assert "token" in answer.json()["detail"]
        for sent in ("Bearer wrong", "Bearer", token[:-1]):
            assert client.get("/api/jobs", headers={"authorization": sent}).status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        assert client.get("/api/jobs", headers=bearer).status_code == 200
        entered = client.get(f"/?token={token}")
        assert entered.status_code == 303
        assert "HttpOnly; SameSite=Strict" in entered.headers["set-cookie"]
        assert client.get("/api/jobs").status_code == 200  # the cookie is there now


def test_the_network_says_what_it_thinks_of_every_move(start, tmp_path, capsys):
    torch = pytest.importorskip("torch")
    from tbgat.policy.network import TBGAT, NetworkConfig
    from tbgat.policy.weights import save_weights

    network = TBGAT(NetworkConfig(heads=2, width=8), generator=torch.Generator().manual_seed(5))
    file = tmp_path / "small.safetensors"
    save_weights(file, network, {"sizes": ["10x10"]})
    with start("--weights", str(file)).client() as client:
        assert "network" in client.get("/api/service").json()["choosers"]
        job = client.post("/api/jobs", json={"library": "ft10", "method": "dispatch"}).json()["id"]
        wait_for(client, job)
        assert client.post(f"/api/jobs/{job}/trace?chooser=network&steps=5").json()["steps"] == 5
        position = client.get(f"/api/jobs/{job}/trace/network/3").json()
        shares = [move["policy"] for move in position["moves"]]
        assert sum(shares) == pytest.approx(1)
        assert shares == [move["probability"] for move in position["moves"]]
        start_times = {"start": position["start"]}
        mine = client.post(f"/api/jobs/{job}/moves", json=start_times).json()
        assert sum(move["policy"] for move in mine["moves"]) == pytest.approx(1)
    assert tbgat(["ui", "--weights", str(tmp_path / "missing.safetensors")]) == 2
    assert "missing.safetensors" in capsys.readouterr().err


def test_what_cannot_be_started_says_why(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert tbgat(["ui", "--port", port, "--database", str(tmp_path / "a.sqlite")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"tbgat: cannot listen at 127.0.0.1 port {port}: ")
    assert tbgat(["ui", "--queue", "0"]) == 2
    assert capsys.readouterr().err == "tbgat: the limit queue must be more than 0, got 0\n"
    assert tbgat(["ui", "--port", "0", "--database", str(tmp_path)]) == 2
    assert "as database" in capsys.readouterr().err


def test_every_limit_has_a_sensible_default():
    limits = Limits()
    assert limits.queue == 20
    assert limits.seconds <= 3600
    with pytest.raises(Exception, match="workers must be more than 0"):
        Limits(workers=0)
