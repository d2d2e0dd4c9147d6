"""The files beside the code: workflows, versions, the changelog; what none may hold."""

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
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FRAGMENT = re.compile(r"[\w+-][\w.+-]*\.(feature|change|fix|doc)\.md")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]

#: Written so that this file does not hold them itself.
NOWHERE = {
    "the host of a package index": r"py" r"pi\.org|python" r"hosted\.org|npm" r"js\.(?:org|com)",
    "a path of one machine": r"(?<![\w.])/(?:wo" r"rk|ro" r"ot|ho" r"me)/[a-z]\w+",
}


def tracked():
    """Return the text files that git knows, or skip where there is no git."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a clone of git")
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    paths = [ROOT / name for name in listed.split("\0")]
    return [p for p in paths if p.suffix not in (".npz", ".png", ".svg") and p.is_file()]


def load(path):
    # BaseLoader: the key "on" would be a truth value otherwise
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_do_little_and_end(path):
    flow = load(path)
    assert flow["permissions"] == {"contents": "read"}
    assert "group" in flow["concurrency"] and flow["on"]
    for name, job in flow["jobs"].items():
        assert "timeout-minutes" in job, name
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", step["uses"])


def test_only_a_release_may_write_and_only_where_it_must():
    may = {
        (path.stem, name): job["permissions"]
        for path in WORKFLOWS
        for name, job in load(path)["jobs"].items()
        if "permissions" in job
    }
    assert may == {
        ("release", "publish"): {"id-token": "write"},
        ("release", "announce"): {"contents": "write"},
    }


def test_fragments_are_named_by_their_kind_and_hold_a_sentence():
    kinds = [kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]]
    assert kinds == ["feature", "change", "fix", "doc"]
    for path in (ROOT / "changes").iterdir():
        if path.name in ("README.md", "template.md.jinja"):
            continue
        assert FRAGMENT.fullmatch(path.name), f"{path.name}: see changes/README.md"
        assert path.read_text(encoding="utf-8").strip().endswith((".", "`")), path.name


def test_every_extra_for_users_is_on_the_page_that_says_how_to_install():
    page = (ROOT / "docs/start.rst").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]
    missing = [e for e in extras if e not in ("docs", "dev", "all") and f"``{e}``" not in page]
    assert not missing and "[all]" in page
    everything = re.search(r"\[(.*)\]", extras["all"][0])[1].split(",")
    assert sorted(everything) == sorted(set(extras) - {"docs", "dev", "all"})


@pytest.mark.parametrize("what", NOWHERE)
def test_no_file_names(what):
    for path in tracked():
        assert not re.search(NOWHERE[what], path.read_text(encoding="utf-8", errors="replace")), (
            path
        )


def test_the_version_is_the_installed_one_or_unknown(tmp_path):
    assert groupfs.__version__ == version("groupfs")
    # a folder that was never installed
    for name in ("__init__.py", "utils/__init__.py", "utils/packages.py"):
        copy = tmp_path / "groupfs" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "src/groupfs" / name, copy)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    code += "import groupfs; print(groupfs.__version__)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "0+unknown", done.stderr


def test_versions_of_other_files_are_those_of_the_metadata():
    coming = PYPROJECT["tool"]["setuptools_scm"]["fallback_version"]
    assert f"{load(ROOT / 'CITATION.cff')['version']}.dev0" == coming
    script = runpy.run_path(str(ROOT / ".github/lowest.py"))
    written = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    assert written == script["constraints"](), "run python .github/lowest.py"
    assert "torch==" in written and "typer==" in written and "sphinx" not in written


def test_the_tests_run_on_every_python_that_is_promised():
    matrix = load(ROOT / ".github/workflows/tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    promised = re.findall(r"Python :: (3\.\d+)\b", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == promised
    wheels = PYPROJECT["tool"]["cibuildwheel"]["build"]
    assert wheels == [f"cp{python.replace('.', '')}-*" for python in promised]
    assert PROJECT["requires-python"] == f">={promised[0]}"
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
