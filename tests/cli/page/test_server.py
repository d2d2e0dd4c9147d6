"""The page as a process: however it ends, nothing is left, and its memory does not grow."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from groupfs.cli.options import command_line
from groupfs.cli.page.form import Form, Refused
from tests.cli.page.conftest import Page
from tests.support.command import COMMAND, ENVIRONMENT, run, run_process

#: Runs one after another; RUNS=20 takes two minutes.
N_RUNS = int(os.environ.get("RUNS", 3))


class Opened:
    """``groupfs app`` in a process of its own, with folders for what is temporary."""

    def __init__(self, around):
        self.around = around
        environment = {**ENVIRONMENT, "TMPDIR": str(around), "PYTHONUNBUFFERED": "1"}
        environment = {name: of for name, of in environment.items() if "DISPLAY" not in name}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([*COMMAND, "app"], env=environment, **pipes)
        address = self.process.stdout.readline().split()[-1]
        self.family = psutil.Process(self.process.pid)
        (folder,) = around.glob("groupfs-app-*")
        self.page = Page(address, folder)

    def left(self, patience=20):
        """Wait until nothing is left; what is left at last are processes and files."""
        for _ in range(patience * 10):
            processes = [p for p in self.children if p.is_running() and p.status() != "zombie"]
            files = [*self.around.rglob("*")]
            if not processes and not files:
                break
            time.sleep(0.1)
        return processes, files

    def remember(self):
        self.children = self.family.children(recursive=True)


@pytest.fixture
def opened(tmp_path):
    one = Opened(tmp_path)
    yield one
    one.process.kill()
    one.process.communicate()


@pytest.fixture
def running(opened, rng):
    """A page with a fit under way."""
    rows = "\n".join(",".join(map(str, row)) for row in rng.standard_normal((3000, 400)).round(3))
    table = f"{','.join(f'x{i}' for i in range(400))}\n{rows}\n".encode()
    _, _, at = opened.page.post(opened.page.drop(table, "wide.csv"), run="1")
    while b'"share": 0.0' in (now := opened.page.get(f"{at}/state")[1]) or b":0.0" in now:
        time.sleep(0.05)
    opened.remember()
    assert len(opened.children) >= 2
    return opened


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_is_stopped_half_way_leaves_nothing(running, sent):
    running.process.send_signal(sent)
    out, err = running.process.communicate(timeout=20)
    assert running.left() == ([], [])
    if sent != signal.SIGKILL:
        assert running.process.returncode == 0 and not err
        assert out.splitlines()[-1] == "Closed; nothing was kept."


def test_close_on_the_page_ends_what_runs(running):
    status, html, _ = running.page.post("/close")
    assert status == 200 and "Everything was removed" in html
    assert running.process.wait(20) == 0
    assert running.left() == ([], [])


def test_a_worker_that_is_ended_from_outside_is_told_of(running):
    from tests.cli.page.conftest import said

    workers = [p for p in running.children if "multiprocessing" in " ".join(p.cmdline())]
    fit = max(workers, key=lambda p: p.memory_info().rss)
    fit.kill()
    (run,) = (line for line in running.page.get("/")[1].decode().split('"') if "/run/" in line)
    run = run.removeprefix(running.page.root)
    assert running.page.wait(run) == "failed"
    assert "ended from outside" in said(running.page.get(run)[1].decode())


def test_the_page_listens_on_this_machine_alone(opened):
    addresses = {c.laddr.ip for c in opened.family.net_connections() if c.status == "LISTEN"}
    assert addresses == {"127.0.0.1"}
    assert oct(Path(opened.page.folder).stat().st_mode)[-3:] == "700"


@pytest.mark.slow
def test_memory_stays_flat_over_many_runs(opened, survey):
    at = opened.page.drop(survey)
    sizes = []
    for _ in range(N_RUNS):
        run, ended = opened.page.find(at)
        assert ended == "done" and opened.page.get(f"{run}/scores.csv")[0] == 200
        sizes.append(opened.family.memory_info().rss)
    assert sizes[-1] < sizes[1] + 5e6
    opened.remember()
    assert len(opened.children) <= 2  # the one that sweeps, and Python's own


def test_a_port_that_is_taken_is_told_of():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run_process("app", "--port", port)
    assert ended.returncode == 4
    assert ended.stderr.decode().startswith(f"groupfs: --port {port} cannot be had (address")


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    ended = run("app")
    assert ended.exit_code == 6
    assert 'The page needs uvicorn; install it with pip install "groupfs[app]".' in ended.output


def test_what_is_filled_in_is_a_command():
    texts = {"missing": "99\nq1:q5=9\n", "drop": "age", "signed": "1", "level": "broad"}
    texts |= {"select": "each", "per_group": " 3 ", "direction": "q7", "use_raw": ""}
    roles = {"sex": "by", "id": "keep", "name": "use", "job": "drop"}
    request = Form(texts, roles).request("survey.csv")
    assert command_line(request, "survey.csv") == (
        "groupfs select survey.csv --by sex --drop age --drop job --use name --missing 99 "
        "--missing q1:q5=9 --keep id --level broad --per-group 3 --direction q7 --signed --scores"
    )
    for text in ("x", "0", "-1"):
        with pytest.raises(
            Refused, match=f"^{text} is no number of columns for each group, e.g. 3[.]$"
        ):
            Form({"select": "each", "per_group": text}).request("survey.csv")
