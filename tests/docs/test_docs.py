"""What the documentation says is so: its code runs, its names exist, its links lead somewhere."""

import contextlib
import doctest
import html
import importlib
import inspect
import io
import re
import runpy
import shutil
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from urllib.parse import unquote, urldefrag

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

import groupfs.baselines

pytestmark = pytest.mark.docs
DOCS = Path(__file__).parents[2] / "docs"
GENERATED = ("auto_gallery", "generated", "backreferences")
PAGES = sorted(
    page for page in DOCS.rglob("*.rst") if not set(page.relative_to(DOCS).parts) & set(GENERATED)
)
EXAMPLES = sorted((DOCS / "gallery").glob("plot_*.py"))
PUBLIC_MODULES = (
    *("anndata", "baselines", "conditions", "datasets", "files", "files.columns"),
    *("metrics", "persistence", "plotting", "report"),
)
#: A directive with its options and its indented body.
BLOCK = re.compile(
    r"^(?P<indent> *)\.\. (?P<kind>testsetup|testcode|testoutput|code-block):: ?(?P<language>\w*)\n"
    r"(?:(?P=indent) +:\w+:.*\n)*\n"
    r"(?P<body>(?:(?:(?P=indent)   .*)?\n)+)",
    re.MULTILINE,
)


def blocks(page):
    for found in BLOCK.finditer(page.read_text() + "\n"):
        yield found["kind"], found["language"], textwrap.dedent(found["body"]).strip() + "\n"


TESTED = [page for page in PAGES if any(kind == "testcode" for kind, _, _ in blocks(page))]


@pytest.fixture(autouse=True)
def as_found():
    """Open no windows, and leave settings as they were: scanpy's numba raises OpenMP's threads."""
    matplotlib.use("Agg")
    threads = threadpool_limits(torch.get_num_threads(), "openmp")
    with threads, warnings.catch_warnings(), matplotlib.rc_context():
        warnings.filterwarnings("ignore", message=".*non-interactive")
        yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("page", TESTED, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_of_the_guide_prints_what_the_page_says(page):
    scope, printed = {}, ""
    for kind, _, body in blocks(page):
        if kind in ("testsetup", "testcode"):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(body, str(page), "exec"), scope)
            printed = output.getvalue()
        elif kind == "testoutput":
            same = doctest.OutputChecker().check_output(body, printed, 0)
            assert same, f"the page says\n{body}\nand the code prints\n{printed}"


def docstrings():
    """The examples of public classes with their methods, and of functions.

    They name ``groupfs`` as their module, wherever they are written, so ``--doctest-modules``
    passes over them.
    """
    for module in (groupfs, groupfs.baselines):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                yield from doctest.DocTestFinder().find(thing, f"{module.__name__}.{name}", False)


DOCSTRINGS = {test.name: test for test in docstrings() if test.examples}


def test_the_estimators_have_examples():
    assert DOCSTRINGS.keys() > {"groupfs.FeatureGroups", "groupfs.GroupFS", "groupfs.GroupFSPath"}


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCSTRINGS)
def test_examples_of_public_classes_print_what_their_docstrings_say(name):
    assert doctest.DocTestRunner(verbose=False).run(DOCSTRINGS[name]).failed == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_readme_is_short_and_its_code_runs(tmp_path, monkeypatch, capsys):
    readme = (DOCS.parent / "README.md").read_text()
    assert len(readme.splitlines()) <= 100
    monkeypatch.chdir(tmp_path)
    plain, cells, published = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    script = tmp_path / "readme.py"
    script.write_text(plain + published)
    found = runpy.run_path(str(script))
    assert "worst radius" in capsys.readouterr().out
    assert found["three"].shape == (569, 3)
    assert found["scores"].shape == (569, found["selector"].n_groups_)
    for learned in (found["published"], found["robust"]):
        assert learned.get_support(indices=True).tolist() == list(range(10))
    sc = pytest.importorskip("scanpy")
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs["cell_type"] = adata.obs["bulk_labels"]
    script.write_text(cells)
    runpy.run_path(str(script), init_globals={"sc": sc, "adata": adata})
    assert adata.var["groupfs_selected"].sum() > 100


def test_code_that_needs_more_than_this_machine_is_python_at_least():
    for page in PAGES:
        for _, language, body in blocks(page):
            if language == "python":
                compile(body, str(page), "exec")


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api/index.rst").read_text(), re.MULTILINE))
    offered = set(public_names(groupfs))
    for name in PUBLIC_MODULES:
        found = public_names(importlib.import_module(f"groupfs.{name}"))
        assert found
        offered |= {f"{name}.{public}" for public in found}
    assert not offered - listed


def public_names(module):
    """What a module offers: functions and classes of its list, or else those written in it."""
    things = {name: thing for name, thing in inspect.getmembers(module, callable) if name[0] != "_"}
    written = [name for name in things if things[name].__module__ == module.__name__]
    return [name for name in getattr(module, "__all__", written) if name in things]


def scales_are_found(scope):
    names, groups = scope["X"].columns, scope["selector"].groups_
    found = {tuple(sorted({names[i].split("_")[0] for i in group})) for group in groups[:4]}
    assert found == {(scale,) for scale in scope["SCALES"]}
    assert scope["n_scales"] == 4


def moons_are_found(scope):
    assert scope["selector"].get_support(indices=True).tolist() == list(range(10))
    assert sorted(name[:2] for name in scope["pair"].columns) == ["x1", "x2"]


def small_budgets_do_better_than_chance(scope):
    accuracy = scope["accuracy"]
    assert (accuracy["FeatureGroups"] - accuracy["random"]).loc[:6].min() > 0.02
    assert accuracy["FeatureGroups"].idxmax() == 20
    assert scope["found"]["selected"].sum() == 6
    assert scope["scores"].shape == (569, scope["n_groups"])


def parts_of_the_face_are_found(scope):
    parts = {frozenset(np.flatnonzero(scope[part]).tolist()) for part in ("eyes", "mouth", "light")}
    kept = np.flatnonzero(scope["selector"].group_kept_)
    assert {frozenset(scope["selector"].groups_[j].tolist()) for j in kept} == parts


def programmes_are_found(scope):
    groups = scope["adata"].var["groupfs_group"]
    for genes in (["CD3D", "CD3E"], ["CD79A", "CD79B", "MS4A1"], ["NKG7", "GNLY"]):
        assert groups[genes].nunique() == 1 and groups[genes].notna().all()
    scores, variable = scope["agreement"].values()
    assert scores > variable


CLAIMS = {
    "plot_two_moons": moons_are_found,
    "plot_pipeline": small_budgets_do_better_than_chance,
    "plot_questionnaire": scales_are_found,
    "plot_faces": parts_of_the_face_are_found,
    "plot_genes": programmes_are_found,
}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_draws_and_finds_what_it_says(example, capsys):
    scope = runpy.run_path(str(example))
    assert plt.get_fignums()
    CLAIMS[example.stem](scope)


def attributes(page, names):
    """What these attributes of the elements of a page are."""
    return set(map(html.unescape, re.findall(rf'\b(?:{names})="([^"]+)"', page.read_text())))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, built with warnings as errors; the examples are run by other tests."""
    pytest.importorskip("sphinx_gallery", reason="the documentation's own packages are missing")
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(DOCS, folder / "source", ignore=shutil.ignore_patterns(*GENERATED))
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    built = subprocess.run(
        [*command, "-b", "html", folder / "source", folder / "html"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.mark.slow
def test_links_between_the_pages_lead_somewhere(site):
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    anchors = {page: attributes(page, "id|name") for page in pages}
    broken = []
    for page in pages:
        for target in attributes(page, "href|src"):
            if re.match(r"[a-z]+:", target):
                continue
            path, anchor = urldefrag(target.partition("?")[0])
            goal = (page.parent / unquote(path)).resolve() if path else page
            if not goal.exists() or (anchor and anchor not in anchors.get(goal, {anchor})):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert not broken


@pytest.mark.slow
def test_pages_ask_nothing_of_anyone_and_formulas_are_drawn_without_a_script(site):
    elsewhere = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"(?:\w+:)?//")
    for page in site.rglob("*.html"):
        assert not elsewhere.search(page.read_text()), page
    page = (site / "guide/paper.html").read_text()
    assert page.count("<math") > 20 and "mathjax" not in page.lower()
