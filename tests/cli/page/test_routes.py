"""The page by what is sent to it: who gets in, what comes out, and what is said of the rest."""

import asyncio
import http.client
import json
import re
import shlex
import shutil
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from groupfs.cli.options import SelectRequest
from groupfs.cli.page import routes
from groupfs.cli.page.form import Form, Refused
from groupfs.cli.page.state import LONGEST, Run, Sheet, State, safe_name, store
from groupfs.cli.page.tasks import Task
from tests.cli.page.conftest import said
from tests.support.command import run_process


@pytest.fixture(scope="module")
def opened(page, survey):
    return page.drop(survey)


@pytest.fixture(scope="module")
def found(page, opened):
    run, ended = page.find(opened, **{"role-0": "keep", "role-16": "label"})
    assert ended == "done"
    return run


@pytest.mark.parametrize("path", ["/", "/{}x/", "/seen", "/static/app.js", "//", "/%2e%2e/{}/"])
def test_nothing_answers_without_the_token(page, path):
    status, body, _ = page.ask(path.format(page.root[1:]))
    assert status == 403
    assert page.root[1:].encode() not in body


def test_nothing_answers_to_the_name_of_another_host(page):
    assert page.ask(f"{page.root}/", Host="attacker.example")[0] == 400
    assert page.ask(f"{page.root}/", Host=f"localhost:{page.port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/people.csv", "/model.skops/.."],
)
def test_no_address_leads_out_of_the_results(page, found, path):
    assert page.get(f"{found}{path}")[0] == 404
    assert page.get(f"/static{path}")[0] == 404


@pytest.mark.parametrize("name", ["../../out.csv", "..\\..\\out.csv", "/etc/out.csv", "--out.csv"])
def test_a_file_stays_in_its_folder_whatever_it_is_called(page, survey, name):
    at = page.drop(survey.read_bytes(), name)
    number = at.rpartition("/")[2]
    assert [path.name for path in (page.folder / number).iterdir()] == ["out.csv"]


def test_browsers_keep_nothing_and_show_nothing_of_others(page, found):
    for path in ("/", "/static/app.js", f"{found}/scores.csv"):
        headers = page.get(path)[2]
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in page.get("/")[2]["content-security-policy"]


def test_columns_are_shown_as_they_were_taken(page, opened):
    html = page.get(opened)[1].decode()
    rows = re.findall(r'<th scope="row">(\w+)<.*?"Taken for">(.*?)</td>', html, re.S)
    kinds = {name: kind.strip() for name, kind in rows}
    assert kinds["person_id"] == "an id"
    assert kinds["u0"] == "numbers" and kinds["job"] == "3 categories"
    assert '<option value="keep" selected>' in html  # ids go with the scores


def test_answers_in_words_are_numbered_by_hand(page, rng):
    words = ["nie wieder", "mal so", "gern", "weiß nicht"]
    shared = rng.standard_normal((200, 2)).repeat(4, axis=1) + 0.7 * rng.standard_normal((200, 8))
    answers = np.array(words)[np.digitize(shared, [-0.5, 0.5])]
    answers[rng.random(answers.shape) < 0.03] = words[3]
    names = [f"q{i}" for i in range(8)]
    at = page.drop(pd.DataFrame(answers, columns=names).to_csv(index=False).encode(), "words.csv")
    found = re.findall(r'name="(step-\d)"> (.*?)</label>', page.get(at)[1].decode())
    steps = {place: words.index(word) + 1 for place, word in found if word != words[3]}
    assert len(found) == 4 and page.post(at, **steps)[2] == at
    html = page.get(at)[1].decode()
    assert html.count("answers, 1 to 3: nie wieder &lt; mal so &lt; gern") == 8
    assert "step-0" not in html and ">nie wieder,mal so,gern</textarea>" in html
    first = (answers[:, 0] == words[3]).sum()
    assert f'data-is="Gaps">{first}<' in html


def test_a_codebook_keeps_what_is_filled_in(page, survey):
    at = page.drop(survey)
    page.post(at, drop="w0", **{"role-15": "drop"})
    assert page.drop(b"name;question\nu0;How are you?\n", "book.csv", f"{at}/codebook") == at
    html = page.get(at)[1].decode()
    assert ">w0</textarea>" in html and '<option value="drop" selected>' in html


def test_what_is_taken_away_is_what_the_commands_write(page, found, survey, tmp_path):
    html = page.get(found)[1].decode()
    commands = re.search("<pre>(.*?)</pre>", html, re.S)[1].strip().splitlines()
    shutil.copy(survey, tmp_path)
    for command in commands:
        program, *words = shlex.split(command.replace("&#39;", "'"))
        assert program == "groupfs"
        assert run_process(*words, cwd=tmp_path).returncode == 0
    for name in ("scores.csv", "groups.csv", "scales.csv", "selected.csv"):
        written = (tmp_path / "groupfs-people" / name).read_bytes()
        assert page.get(f"{found}/{name}")[1] == written
    assert (
        page.get(f"{found}/columns.csv")[1]
        == (tmp_path / "groupfs-people-columns.csv").read_bytes()
    )
    assert b"person_id,group1_" in page.get(f"{found}/scores.csv")[1]


def test_a_short_form_is_what_its_command_writes(page, found, survey, tmp_path):
    status, _, short = page.post(found, select="each", per_group="2")
    assert status == 303 and page.wait(short) == "done"
    shutil.copy(survey, tmp_path)
    html = page.get(short)[1].decode()
    for command in re.search("<pre>(.*?)</pre>", html, re.S)[1].strip().splitlines():
        assert run_process(*shlex.split(command)[1:], cwd=tmp_path).returncode == 0
    (table,) = tmp_path.glob("*-columns.csv")
    assert page.get(f"{short}/columns.csv")[1] == table.read_bytes()
    assert table.read_text().count(",u") == 2 and table.read_text().count(",v") == 2


@pytest.mark.parametrize("ending", ["xlsx", "sav"])
def test_tables_for_excel_and_spss(page, found, ending, tmp_path):
    path = tmp_path / f"scores.{ending}"
    status, content, headers = page.get(f"{found}/scores.{ending}")
    path.write_bytes(content)
    assert status == 200 and "attachment" in headers["content-disposition"]
    frame = pd.read_excel(path) if ending == "xlsx" else pd.read_spss(path)
    assert frame.shape == (200, 3)


def test_the_report_is_shown_and_saved(page, found):
    assert "content-disposition" not in page.get(f"{found}/report.html")[2]
    assert "attachment" in page.get(f"{found}/report.html?save=1")[2]["content-disposition"]


def test_codes_are_taken_as_proposed(page, tmp_path):
    rng = np.random.default_rng(0)
    answers = np.repeat(rng.integers(1, 6, (300, 2)), 4, axis=1)
    answers = np.where(rng.random(answers.shape) < 0.7, answers, rng.integers(1, 6, answers.shape))
    answers[rng.random(answers.shape) < 0.05] = 99
    path = tmp_path / "codes.csv"
    names = ["how's it", *(f"q{i}" for i in range(7))]  # a quote that none follows
    pd.DataFrame(answers, columns=names).to_csv(path, index=False)
    at = page.drop(path)
    html = page.get(at)[1].decode()
    code = re.search(r'name="code" value="([^"]*)"', html)[1]
    assert page.post(at, code=code)[0] == 303
    html = page.get(at)[1].decode()
    assert "Took 99 for gaps in 8 columns" in html and 'name="code"' not in html
    run, ended = page.find(at, missing=code)
    assert ended == "done" and "--missing 99" in page.get(run)[1].decode()


def test_a_codebook_gives_the_columns_their_wording(page, survey, tmp_path):
    at = page.drop(survey)
    book = b"name;question\n" + b"".join(b"u%d;How is part %d of u?\n" % (i, i) for i in range(4))
    assert page.drop(book, "book.csv", f"{at}/codebook") == at
    assert "How is part 3 of u?" in page.get(at)[1].decode()
    assert "is no codebook of this table" in page.drop(b"a;b\nc;d\n", "other.csv", f"{at}/codebook")
    assert "How is part 3 of u?" in page.get(at)[1].decode()


def test_wrong_fields_are_told_of_and_kept(page, opened):
    status, html, _ = page.post(opened, run="1", drop="nobody")
    assert status == 422
    assert said(html).startswith("--drop nobody: there is no column of that name")
    assert ">nobody</textarea>" in html
    status, html, _ = page.post(opened, run="1", **{"role-0": "by", "role-1": "by"})
    assert (
        said(html)
        == "person_id and u0 are both there to “compare groups by it”; choose one of them."
    )
    assert page.post("/run/none", level="broad")[0] == 404


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("paper.csv", b"%PDF-1.7 and so on", "a PDF document"),
        ("half.xlsx", b"PK\x03\x04 and no more", "is broken or no xlsx file"),
        ("nothing.csv", b"", "is empty"),
        ("heads.csv", b"a,b,c\n", "not one row"),
        ("far.sav", b"\x00" * 100, "is broken or no sav file"),
    ],
)
def test_a_wrong_file_is_told_of_in_a_sentence_and_not_kept(page, name, content, sentence):
    before = {*page.folder.iterdir()}
    answer = page.drop(content, name)
    assert sentence in answer and answer.count(". ") == 0 and "\n" not in answer
    assert {*page.folder.iterdir()} == before


def test_too_large_a_file_is_told_of_and_not_kept(page, small_uploads):
    before = {*page.folder.iterdir()}
    answer = page.drop(b"a,b\n" * 1_000_000, "large.csv")
    assert answer.startswith("large.csv has 4 MB, and this page takes")
    assert {*page.folder.iterdir()} == before


def test_an_upload_that_breaks_off_is_not_kept(page):
    before = {*page.folder.iterdir()}
    connection = http.client.HTTPConnection("127.0.0.1", page.port)
    connection.putrequest("POST", f"{page.root}/file?name=a.csv")
    connection.putheader("content-length", "1000")
    connection.endheaders(b"a,b\n1,2\n")
    connection.close()
    for _ in range(50):
        if {*page.folder.iterdir()} == before and page.get("/")[0] == 200:
            return
        time.sleep(0.1)
    raise AssertionError([*page.folder.iterdir()])


def test_too_large_a_form_is_refused(page, opened, monkeypatch):
    monkeypatch.setattr(routes, "LARGEST_FORM", 1000)
    status, html, _ = page.post(opened, drop="x" * 2000)
    assert status == 413 and said(html).startswith("More is filled in")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"columns": "u0"}, "1 usable column left"),
        ({"role-16": "by", "role-0": "keep", "drop": "u*\nv*\nw*\nsex"}, "1 usable column left"),
        ({"level": "7"}, "--level 7"),
    ],
)
def test_a_run_that_fails_says_why(page, opened, fields, sentence):
    run, ended = page.find(opened, **fields)
    assert ended == "failed"
    status, html, _ = page.ask(f"{page.root}{run}")
    assert status == 200 and sentence in said(html.decode())
    assert page.get(f"{run}/groups.csv")[0] == 404


def test_a_table_without_groups_has_a_report_and_no_scores(page, rng):
    noise = "\n".join(",".join(f"{v:.3f}" for v in row) for row in rng.standard_normal((100, 6)))
    run, ended = page.find(page.drop(f"a,b,c,d,e,f\n{noise}\n".encode(), "noise.csv"))
    html = page.get(run)[1].decode()
    assert ended == "done" and "scores.csv" not in html
    assert page.get(f"{run}/report.html")[0] == 200
    status, html, _ = page.get(f"{run}/columns.csv")
    assert status == 422 and "selects no feature" in said(html.decode())


def test_a_run_is_cancelled_and_takes_back_what_it_wrote(page, tmp_path, rng):
    values = rng.standard_normal((2000, 400)).round(3)
    rows = "\n".join(",".join(map(str, row)) for row in values)
    at = page.drop(f"{','.join(f'x{i}' for i in range(400))}\n{rows}\n".encode(), "wide.csv")
    _, _, run = page.post(at, run="1")
    while not json.loads(page.get(f"{run}/state")[1])["share"]:
        pass
    assert page.post(run, cancel="1")[2] == run
    assert page.wait(run) == "cancelled"
    assert said(page.get(run)[1].decode()) == "Stopped, as asked; nothing was written."
    folder = page.folder / at.rpartition("/")[2]
    assert [path.name for path in folder.iterdir()] == ["wide.csv"]


def test_what_is_not_there_is_told_of(page):
    status, html, _ = page.get("/run/abc")
    assert status == 404 and "nothing at this address" in said(html.decode())


def test_two_files_are_open_side_by_side(page, survey):
    first, second = page.drop(survey), page.drop(survey.read_bytes(), "other.csv")
    runs = [page.post(at, run="1")[2] for at in (first, second)]
    assert [page.wait(run) for run in runs] == ["done", "done"]
    start = page.get("/")[1].decode()
    assert all(run in start for run in runs) and "other.csv" in start
    assert page.get(f"{runs[0]}/groups.csv")[1] == page.get(f"{runs[1]}/groups.csv")[1]


def test_a_page_that_nobody_looks_at_closes_but_not_on_what_runs(tmp_path, monkeypatch):
    closed = []
    own = routes.Page(State(tmp_path), lambda: closed.append(True))
    asyncio.run(own.watch())
    assert not closed
    sheet, asked = Sheet(tmp_path, "a.csv"), SelectRequest("a.csv")
    run = Run(action="select", request=asked, folder=tmp_path, sheet=sheet, form=Form())
    own.state.runs[run.number], own.state.seen = run, -1e9
    asyncio.run(own.watch())
    run.state = "done"  # and somebody may come back for it
    asyncio.run(own.watch())
    assert not closed
    monkeypatch.setattr(routes, "UNSEEN", -1.0)
    asyncio.run(own.watch())
    assert closed


def test_a_codebook_that_is_refused_leaves_the_one_before_and_the_table(page, survey):
    at = page.drop(survey.read_bytes(), "book.csv")
    book = b"name;question\n" + b"".join(b"u%d;How is part %d of u?\n" % (i, i) for i in range(4))
    assert page.drop(book, "book.csv", f"{at}/codebook") == at
    assert "is no codebook" in page.drop(b"a;b\nc;d\n", "book.csv", f"{at}/codebook")
    assert page.post(at)[0] == 303
    assert "How is part 3 of u?" in page.get(at)[1].decode()
    kept = {path.name for path in (page.folder / at.rpartition("/")[2]).iterdir()}
    assert kept == {"book.csv", "new-book.csv"}


def test_the_command_names_the_codebook_as_it_was_dropped(page, survey):
    at = page.drop(survey)
    assert page.drop(b"name;question\nu0;How are you?\n", "words.csv", f"{at}/codebook") == at
    run, ended = page.find(at)
    assert ended == "done" and "--labels words.csv" in page.get(run)[1].decode()


def test_a_long_name_in_other_letters_is_shortened(page, survey):
    at = page.drop(survey.read_bytes(), "調査" * 100 + ".csv")
    run, ended = page.find(at)
    assert ended == "done"
    assert page.get(f"{run}/columns.csv")[0] == 200


def test_what_a_name_is_shortened_to_is_no_option():
    assert safe_name("a" + "-" * 20 + "b" * (LONGEST - 10)) == "b" * (LONGEST - 10)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_an_upload_to_a_full_disk_is_read_to_its_end():
    left = [b"x" * 1_000_000] * 5

    async def chunks():
        while left:
            yield left.pop()

    with pytest.raises(Refused, match=r"could not be kept \(no space left on device\)"):
        asyncio.run(store(chunks(), Path("/dev/full")))
    assert not left  # browsers hear no answer before


@pytest.mark.parametrize("name", ["", "x", "x.csv.gz/../y"])
def test_whatever_a_file_is_called_it_gets_a_name(name):
    assert safe_name(name) in ("table", "x", "y")


def test_a_process_that_cannot_be_started_is_told_of(tmp_path, monkeypatch):
    def start(self):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", start)
    task = Task(action="look", request=SelectRequest("a.csv"), folder=tmp_path)
    asyncio.run(task.follow())
    assert task.state == "failed" and "memory ran out" in task.error


def test_many_commands_run_side_by_side(tmp_path, monkeypatch):
    """One more must not wait for those before: a file is looked at while groups are looked for."""
    started, over = [], []

    def poll(self, timeout=0.0):
        if over:
            raise EOFError
        return False

    process = "multiprocessing.context.SpawnProcess"
    monkeypatch.setattr(f"{process}.start", lambda self: started.append(self))
    monkeypatch.setattr(f"{process}.terminate", lambda self: None)
    monkeypatch.setattr("multiprocessing.connection.Connection.poll", poll)

    async def follow_all():
        asked = [Task(action="look", request=None, folder=tmp_path) for _ in range(50)]
        under_way = [asyncio.create_task(task.follow()) for task in asked]
        await asyncio.sleep(0.5)
        n_started = len(started)
        over.append(True)
        await asyncio.gather(*under_way, return_exceptions=True)
        return n_started

    assert asyncio.run(follow_all()) == 50


def test_a_table_that_is_made_of_an_unfinished_run_is_not_there(page, opened):
    run, ended = page.find(opened, columns="u0")
    assert ended == "failed" and page.get(f"{run}/scores.xlsx")[0] == 404


def test_what_is_done_stays_done_when_it_is_stopped_late(tmp_path, monkeypatch):
    said = [("done", {"headline": "2 groups found"})]
    process, connection = "multiprocessing.context.SpawnProcess", "multiprocessing.connection"
    for name in ("start", "terminate"):
        monkeypatch.setattr(f"{process}.{name}", lambda self: None)
    monkeypatch.setattr(f"{connection}.Connection.poll", lambda self: bool(said))
    monkeypatch.setattr(f"{connection}.Connection.recv", lambda self: said.pop())

    async def stop_late():
        sheet = Sheet(tmp_path, "a.csv")
        run = State(tmp_path).start(sheet, Form())
        await asyncio.sleep(0.2)
        run.cancel()
        await asyncio.wait([run.following])
        return run

    run = asyncio.run(stop_late())
    assert run.state == "done" and run.result["headline"] == "2 groups found"
