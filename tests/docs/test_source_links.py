"""Links to sources lead to the line of the definition, and a name that is gone is told."""

import sys
from io import StringIO
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs
ROOT = Path(__file__).parents[2]
sphinx = pytest.importorskip("sphinx.application", reason="the documentation's own packages")
docutils_namespace = pytest.importorskip("sphinx.util.docutils").docutils_namespace
sys.path.insert(0, str(ROOT / "docs/_ext"))
links = pytest.importorskip("source_links")


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("groupfs.joint.losses.sample_smoothness", "def sample_smoothness("),
        ("groupfs.joint.training._train_run", "def _train_run("),  # below its decorator
        ("groupfs.joint.estimator.GroupFS", "class GroupFS("),
        ("groupfs.joint.model.GatedModel.total", "    def total("),
        ("groupfs.joint.problem.MAX_DRAWS", "MIN_DRAWS, MAX_DRAWS ="),
        ("groupfs.joint.losses", 'r"""The objective'),
    ],
)
def test_a_name_leads_to_the_line_of_its_definition(name, starts):
    path, line = links.find_definition(ROOT, name)
    assert path.read_text().splitlines()[line - 1].startswith(starts)


def build(folder, text):
    """Build one page; return it as HTML and the warnings."""
    (folder / "index.rst").write_text(f"Page\n====\n\n{text}\n")
    warnings = StringIO()
    settings = {"extensions": ["source_links"]}
    folders = (folder, None, folder / "out", folder / "trees")
    with docutils_namespace():  # roles are the process's, and go with it
        app = sphinx.Sphinx(*folders, "html", settings, status=None, warning=warnings)
        app.build()
    return (folder / "out/index.html").read_text(), warnings.getvalue()


def test_links_show_a_name_or_a_sentence(tmp_path):
    source = ":source:`groupfs.joint.losses.sample_smoothness`"
    test = ":test:`tests/joint/test_losses.py::test_sample_smoothness`"
    page, warnings = build(tmp_path, f"{source} {test}")
    assert not warnings
    assert f'href="{links.ADDRESS}/src/groupfs/joint/losses.py#L' in page
    assert f'href="{links.ADDRESS}/tests/joint/test_losses.py#L' in page
    assert '<span class="pre">sample_smoothness</span>' in page
    assert "<span>sample smoothness</span>" in page


@pytest.mark.parametrize(
    ("link", "says"),
    [
        (":source:`groupfs.joint.losses.gone`", "joint/losses.py defines no gone"),
        (":source:`groupfs.gone.total`", "groupfs/__init__.py defines no gone.total"),
        (":source:`gone.total`", "there is no module gone"),
        (":test:`tests/joint/test_losses.py::test_gone`", "test_losses.py defines no test_gone"),
        (":test:`tests/gone.py::test_gone`", "there is no file tests/gone.py"),
    ],
)
def test_a_name_that_is_gone_is_a_warning(link, says, tmp_path):
    _, warnings = build(tmp_path, link)
    assert "index.rst:4: WARNING" in warnings and says in warnings
