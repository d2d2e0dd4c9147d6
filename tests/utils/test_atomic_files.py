"""Results appear whole or not at all, and replace nothing unasked."""

import csv
import errno
import io
import os
from pathlib import Path

import pytest

from groupfs.utils.atomic_files import (
    OutputError,
    check_file,
    check_folder,
    csv_quoting,
    folder_aside,
    write_file,
)

OWN = ("a.txt", "b.txt")


def fill(target, text="new", force=False):
    with folder_aside(target, OWN, force) as aside:
        for name in OWN:
            (aside / name).write_text(text)


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_appears_with_all_its_files(tmp_path):
    fill(tmp_path / "out")
    assert everything(tmp_path) == ["out", "out/a.txt", "out/b.txt"]


def test_a_folder_may_lie_in_folders_that_do_not_exist_yet(tmp_path):
    fill(tmp_path / "p" / "q" / "out")
    assert (tmp_path / "p" / "q" / "out" / "b.txt").read_text() == "new"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("x"), OSError(errno.EIO, "bad")])
def test_nothing_is_left_of_a_folder_that_failed(error, tmp_path):
    with (
        pytest.raises((KeyboardInterrupt, ValueError, OutputError)),
        folder_aside(tmp_path / "p" / "out", OWN) as aside,
    ):
        (aside / "a.txt").write_text("half")
        raise error
    assert everything(tmp_path) == []


def test_nothing_is_overwritten_without_force(tmp_path):
    fill(tmp_path / "out", "old")
    with pytest.raises(OutputError, match="exists; add --force"):
        check_folder(tmp_path / "out", OWN, force=False)
    with pytest.raises(OutputError, match="exists; add --force"):
        fill(tmp_path / "out")
    assert (tmp_path / "out" / "a.txt").read_text() == "old"


def test_force_replaces_a_folder_whole(tmp_path):
    fill(tmp_path / "out", "old")
    fill(tmp_path / "out", "new", force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "new"
    assert everything(tmp_path) == ["out", "out/a.txt", "out/b.txt"]


def test_force_spares_a_folder_with_files_of_others(tmp_path):
    fill(tmp_path / "out", "old")
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"did not write \(thesis.tex\)"):
        check_folder(tmp_path / "out", OWN, force=True)
    with pytest.raises(OutputError, match="thesis.tex"):
        fill(tmp_path / "out", force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "old"


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    fill(tmp_path / "out", "old")
    rename = os.rename

    def fail_for_the_new(source, target):
        if target == tmp_path / "out" and (source / "a.txt").read_text() == "new":
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr("groupfs.utils.atomic_files.os.rename", fail_for_the_new)
    with pytest.raises(OutputError, match="input/output error"):
        fill(tmp_path / "out", "new", force=True)
    assert everything(tmp_path) == ["out", "out/a.txt", "out/b.txt"]
    assert (tmp_path / "out" / "a.txt").read_text() == "old"


def test_an_empty_folder_is_in_nobodys_way(tmp_path):
    (tmp_path / "out").mkdir()
    fill(tmp_path / "out")
    assert (tmp_path / "out" / "a.txt").exists()


@pytest.mark.parametrize("place", [".", "link", "disk"])
def test_a_folder_that_must_stay_is_filled_and_not_replaced(place, tmp_path, monkeypatch):
    """The folder we are in, one that a link leads to, and one that a disk is mounted on."""
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    if place == "disk":
        monkeypatch.setattr(
            "groupfs.utils.atomic_files.os.path.ismount", lambda path: path == folder
        )
    target = {".": Path("."), "link": tmp_path / "link", "disk": folder}[place]
    monkeypatch.chdir(folder if place == "." else tmp_path)
    number = folder.stat().st_ino
    for text, force in (("old", False), ("new", True)):
        check_folder(target, OWN, force)
        fill(target, text, force)
        assert everything(tmp_path) == ["link", "real", "real/a.txt", "real/b.txt"]
        assert (tmp_path / "link" / "a.txt").read_text() == text
    with pytest.raises(OutputError, match="exists; add --force"):
        fill(target)
    assert everything(tmp_path) == ["link", "real", "real/a.txt", "real/b.txt"]
    assert place == "link" or folder.stat().st_ino == number


def test_carriage_returns_are_quoted_in_csv():
    for cells in (["a", 1.5], ["a\rb", 1.5]):
        file = io.StringIO(newline="")
        csv.writer(file, lineterminator="\n", quoting=csv_quoting(cells)).writerow(cells)
        read = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
        assert read == [[cells[0], "1.5"]]


def test_a_file_is_not_taken_for_a_folder(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(OutputError, match="is a file; name a folder"):
        check_folder(tmp_path / "out", OWN, force=True)


def test_a_file_appears_whole_and_replaces_nothing_unasked(tmp_path):
    target = tmp_path / "a.txt"
    write_file(target, lambda aside: aside.write_text("one"))
    with pytest.raises(OutputError, match="exists; add --force"):
        write_file(target, lambda aside: aside.write_text("two"))
    assert target.read_text() == "one" and everything(tmp_path) == ["a.txt"]
    write_file(target, lambda aside: aside.write_text("two"), force=True)
    assert target.read_text() == "two" and everything(tmp_path) == ["a.txt"]


def test_a_folder_is_not_taken_for_a_file(tmp_path):
    with pytest.raises(OutputError, match="is a folder; name a file"):
        check_file(tmp_path, force=True)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "There is no room left on the disk"),
        (errno.EACCES, "choose a place you may write to"),
        (errno.EROFS, "choose a place you may write to"),
        (errno.EFBIG, "file too large"),
    ],
)
def test_a_disk_that_refuses_is_told_in_one_sentence(number, says, tmp_path):
    def refuse(aside):
        aside.write_text("half")
        raise OSError(number, os.strerror(number))

    with pytest.raises(OutputError, match=says) as caught:
        write_file(tmp_path / "a.txt", refuse)
    assert "\n" not in str(caught.value) and everything(tmp_path) == []


def test_a_place_that_takes_nothing_is_refused_before_any_work(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("groupfs.utils.atomic_files.Path.mkdir", refuse)
    with pytest.raises(OutputError, match="permission denied"):
        check_folder(tmp_path / "out", OWN, force=False)
