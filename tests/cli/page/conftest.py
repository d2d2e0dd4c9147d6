"""The page in a thread of the tests, and a person's hands on it."""

import contextlib
import http.client
import json
import re
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

from groupfs.cli.options import PageRequest
from tests.support.command import people

for package in ("starlette", "uvicorn", "typer"):
    pytest.importorskip(package)

ENDED = ("done", "failed", "cancelled")


class Page:
    """A page that is open, by what is sent to it."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        parts = urllib.parse.urlsplit(address)
        self.port, self.root = parts.port, parts.path.rstrip("/")

    def ask(self, path, body=None, **headers):
        """Send a request as it stands, without making its path a better one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        kind = "GET" if body is None else "POST"
        connection.request(kind, path, body, {"Host": f"127.0.0.1:{self.port}", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())

    def get(self, path):
        return self.ask(f"{self.root}{path}")

    def post(self, path, **fields):
        status, body, headers = self.ask(self.root + path, urllib.parse.urlencode(fields))
        return status, body.decode(), headers.get("location", "").removeprefix(self.root)

    def drop(self, table, name=None, to="/file"):
        """Drop a file, and return where the page goes on, or what it says."""
        content = table if isinstance(table, bytes) else Path(table).read_bytes()
        name = urllib.parse.quote(name or Path(table).name)
        status, body, _ = self.ask(f"{self.root}{to}?name={name}", content)
        answer = json.loads(body)
        assert status == (422 if "error" in answer else 200)
        return answer.get("error") or answer["to"].removeprefix(self.root)

    def find(self, at, **fields):
        """Look for groups in a file, and return the run and how it ended."""
        status, body, run = self.post(at, run="1", **fields)
        assert status == 303, body
        return run, self.wait(run)

    def wait(self, run):
        for _ in range(600):
            now = json.loads(self.get(f"{run}/state")[1])
            if now["state"] in ENDED:
                return now["state"]
            time.sleep(0.1)
        raise AssertionError(f"{run} did not end: {now}")


def said(html):
    """Return what a page warns of."""
    alert = re.search(r'class="note doubt" role="alert">(.*?)</p>', html, re.S)
    return alert and alert[1]


@pytest.fixture(scope="module")
def page(tmp_path_factory, monkeypatch_module):
    """A page that ends with the tests of a module; nothing may be left of it then."""
    from groupfs.cli.page import server

    around = tmp_path_factory.mktemp("page")
    monkeypatch_module.setattr(server.tempfile, "tempdir", str(around))
    monkeypatch_module.setattr(server.webbrowser, "open", lambda address: False)
    told, opened = [], threading.Event()

    def say(sentence):
        told.append(sentence)
        opened.set()

    thread = threading.Thread(target=server.serve, args=(PageRequest(), say))
    thread.start()
    assert opened.wait(30)
    (folder,) = around.glob("groupfs-app-*")
    page = Page(told[0].split()[-1], folder)
    yield page
    with contextlib.suppress(ConnectionError):  # a test may have closed it
        page.post("/close")
    thread.join(30)
    assert told[-1] == "Closed; nothing was kept."
    assert not any(around.iterdir())


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "people.csv"
    people(200).to_csv(path, index=False)
    return path


@pytest.fixture
def small_uploads(monkeypatch):
    from groupfs.cli.page import state

    monkeypatch.setattr(state, "LARGEST", 10_000)
