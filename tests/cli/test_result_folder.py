"""Results appear whole or not at all, and what was there before is not lost."""

import errno
import os
from pathlib import Path

import pytest

from groupfs.cli.result_folder import OutputError, write_file, write_folder

FILES = ("a.txt", "b.txt")


def write_all(target, text="new", error=None):
    def write(folder):
        for name in FILES:
            (folder / name).write_text(text)
        if error is not None:
            raise error

    write_folder(target, write)


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_appears_with_all_its_files_and_the_folders_that_lead_to_it(tmp_path):
    write_all(tmp_path / "p" / "out")
    assert everything(tmp_path) == ["p", "p/out", "p/out/a.txt", "p/out/b.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, "bad")])
def test_the_old_results_stay_if_the_new_ones_fail(error, tmp_path):
    write_all(tmp_path, "old")
    with pytest.raises((KeyboardInterrupt, OutputError)):
        write_all(tmp_path, "new", error)
    assert everything(tmp_path) == list(FILES)
    assert (tmp_path / "b.txt").read_text() == "old"


@pytest.mark.parametrize("named", [".", "link"])
def test_a_folder_that_is_there_stays_the_same_folder_with_the_files_of_others(
    named, tmp_path, monkeypatch
):
    """It may be mounted, linked to, or the one we are in."""
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(folder if named == "." else tmp_path)
    number = folder.stat().st_ino
    for text in ("old", "new"):
        write_all(Path(named), text)
        assert everything(folder) == [*FILES, "thesis.tex"]
        assert (folder / "a.txt").read_text() == text
    assert folder.stat().st_ino == number and (tmp_path / "link").is_symlink()


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path):
    for text in ("one", "two"):
        write_file(tmp_path / "a.txt", lambda aside, text=text: aside.write_text(text))
        assert (tmp_path / "a.txt").read_text() == text and everything(tmp_path) == ["a.txt"]


def test_a_disk_that_refuses_is_reported_in_one_sentence(tmp_path):
    def refuse(aside):
        aside.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OutputError, match=os.strerror(errno.ENOSPC).lower()) as caught:
        write_file(tmp_path / "a.txt", refuse)
    assert "\n" not in str(caught.value) and everything(tmp_path) == []
