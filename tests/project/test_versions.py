"""Versions stand in several files, and all of them say the same."""

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import groupfs

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
PYTHONS = [
    line.rpartition(" ")[2]
    for line in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)
]


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_version_is_the_installed_one():
    assert groupfs.__version__ == version("groupfs")


def test_a_folder_that_was_never_installed_has_a_version(tmp_path):
    for name in ("__init__.py", "utils/__init__.py", "utils/versions.py"):
        copy = tmp_path / "groupfs" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "src/groupfs" / name, copy)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    code += "import groupfs; print(groupfs.__version__)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "0+unknown", done.stderr


def test_the_citation_names_the_version_that_comes_next_or_was_last():
    coming = PYPROJECT["tool"]["setuptools_scm"]["fallback_version"]
    assert f"{load('CITATION.cff')['version']}.dev0" == coming


def test_lowest_versions_are_those_of_the_metadata():
    script = runpy.run_path(str(ROOT / ".github/lowest.py"))
    written = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    assert written == script["constraints"](), "run python .github/lowest.py"
    assert "torch==" in written and "typer==" in written and "sphinx" not in written


def test_the_tests_run_on_every_python_that_is_promised():
    matrix = load(".github/workflows/tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("tag", ["v0.1.0", "v9.9.9"])
def test_a_release_has_notes_or_says_what_is_missing(tag, tmp_path):
    (tmp_path / ".github").mkdir()
    script = shutil.copy(ROOT / ".github/release_notes.py", tmp_path / ".github")
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.1.0\ntitle: x\n")
    changes = "# Changelog\n\n## 0.1.0 (2026-01-02)\n\n### New\n\n- one\n\n## 0.0.9 (x)\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(changes)
    done = subprocess.run([sys.executable, script, tag], capture_output=True, text=True)
    if tag == "v0.1.0":
        assert done.stdout == "### New\n\n- one\n"
    else:
        assert done.returncode == 1 and "does not name version 9.9.9" in done.stderr
