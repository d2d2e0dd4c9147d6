"""The base install is enough to import everything; what needs more names the extra it needs."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.command import ENVIRONMENT

ROOT = Path(__file__).parents[2]
PUBLIC = (
    *("anndata", "baselines", "cli", "conditions", "datasets", "files"),
    *("metrics", "persistence", "plotting", "report"),
)
#: What is imported by another name than it is installed by.
IMPORTED_AS = {"dask[array]": "dask"}
#: Beside those of the extras, packages that come with some of them, or that users bring along.
ALSO_OPTIONAL = {"polars", "h5py", "zarr", "scanpy", "xarray", "click", "igraph"}

#: Hides packages, as if they were not installed.
HIDE = """
    import json, sys

    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in hidden:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    hidden = set(json.loads(sys.argv[1]))
    sys.meta_path.insert(0, Hidden())
"""
#: A fitted selector, for what wants one.
FITTED = """
    from sklearn.datasets import load_wine
    from groupfs import FeatureGroups
    X = load_wine().data
    selector = FeatureGroups(n_groups=4, random_state=0).fit(X)
    assert selector.transform(X).shape[0] == 178
"""
#: What needs an extra, by the extra.
NEEDS = {
    "joint": "groupfs.GroupFS().fit(X)",
    "plot": "groupfs.plotting.plot_groups(selector)",
    "report": "groupfs.report.render(groupfs.report.summarize(selector, X))",
    "io": "groupfs.persistence.save(selector, 'model.skops')",
    "anndata": "groupfs.anndata.select_groups(X)",
    "data": "groupfs.datasets.fetch_dataset('yale', data_home='nowhere')",
    "cli": "groupfs.files.read_table('table.csv')",
}
#: Tries them all, and prints what each ends with.
TRY_ALL = """
for extra, code in {!r}.items():
    try:
        exec(code)
        print(json.dumps([extra, "nothing was missing"]))
    except Exception as error:
        print(json.dumps([extra, str(error)]))
"""


def optional_packages():
    """Return the names under which the packages of the extras are imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = sum((extras[extra] for extra in extras.keys() - {"docs", "dev", "all"}), [])
    names = {line.partition(">=")[0] for line in lines}
    return {IMPORTED_AS.get(name, name) for name in names} | ALSO_OPTIONAL


def run_without(packages, code, folder):
    command = [sys.executable, "-c", dedent(HIDE) + code, json.dumps(sorted(packages))]
    environment = ENVIRONMENT | {"GROUPFS_DATA": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What a process without optional packages said of each extra, after all its imports."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "table.csv").write_text("a,b\n1,2\n3,5\n")
    imports = "".join(f"import groupfs.{name}\n" for name in PUBLIC)
    code = imports + dedent(FITTED) + TRY_ALL.format(NEEDS)
    done = run_without(optional_packages(), code, folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("extra", NEEDS)
def test_all_modules_are_imported_and_fit_and_what_needs_an_extra_names_it(said, extra):
    assert f"groupfs[{extra}]" in said[extra] or f'extra "{extra}"' in said[extra]
    assert "\n" not in said[extra]


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_the_command_names_its_extra(package, tmp_path):
    code = "from groupfs.cli import app\napp(prog_name='groupfs')"
    done = run_without({package}, code, tmp_path)
    assert done.returncode == 6 and f"needs {package}" in done.stderr
    assert "groupfs[cli]" in done.stderr


def test_the_default_needs_no_torch_and_what_does_says_so_in_a_sentence(tmp_path):
    script = str(ROOT / ".github/without_torch.py")
    code = f"import runpy\nrunpy.run_path({script!r}, run_name='__main__')"
    done = run_without({"torch"}, code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "streamed: 2 groups" in done.stdout and "checks pass" in done.stdout
