"""One page from the summary alone: small enough, safe with any name, refused where parts lack."""

import copy
import json
import re
import subprocess
import sys

import pytest

from groupfs.report import read, render, selected_table, summarize
from groupfs.report.render import MOST_OTHER_GROUPS, _cards
from tests.support.report_tables import HOSTILE, blocks, fitted


def data_in(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


@pytest.mark.slow
def test_a_page_can_be_made_again_from_the_file_alone_and_without_torch(summary, tmp_path):
    path, page = tmp_path / "result.json", tmp_path / "report.html"
    path.write_text(json.dumps(summary))
    program = (
        "import sys; from pathlib import Path; from groupfs.report import read, render\n"
        "Path(sys.argv[2]).write_text(render(read(sys.argv[1])), encoding='utf-8')\n"
        "print([name for name in ('torch', 'sklearn', 'scipy') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, path, page]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert page.read_text(encoding="utf-8") == render(summary)


def test_names_are_text_wherever_they_appear(table):
    X = table[0].rename(columns=dict(zip(table[0].columns, HOSTILE, strict=False)))
    summary = summarize(fitted(X), X, source=HOSTILE[1], notes=[HOSTILE[0]])
    page = render(summary)
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2


def test_nothing_in_the_page_points_outside(summary):
    page = render(summary)
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page and "@import" not in page


def test_selected_features_are_named_before_others_and_none_is_left_out(summary):
    told = copy.deepcopy(summary)
    size = len(told["features"]["name"])
    group = {**told["groups"][0], "features": list(range(size)), "n_selected": 2}
    names = [f"a name of many letters, {i}" for i in range(size)]
    told["features"] |= {"name": names, "rank": list(range(1, size + 1))}
    told["features"]["selected"] = [i >= size - 2 for i in range(size)]
    (card,) = _cards({**told, "groups": [group]}, [0])
    assert card["features"][:4] == [0, size - 2, size - 1, 1] and len(card["features"]) < size
    told["features"]["selected"] = [i >= size - 12 for i in range(size)]
    (card,) = _cards({**told, "groups": [{**group, "n_selected": 12}]}, [0])
    assert card["features"] == [0, *range(size - 12, size)]


@pytest.mark.slow
def test_a_page_for_20000_features_is_under_two_megabytes(many, genes):
    selector, X = copy.copy(many[0]), many[1]
    page = render(genes)
    assert len(page.encode()) < 2_000_000
    with_budget = render(summarize(selector.set_params(n_features_to_select=50), X))
    assert len(with_budget) < 1.1 * len(page)


@pytest.mark.slow
def test_a_cut_page_lists_every_selected_feature_with_its_reason():
    X, known = blocks((300, 300, 300, 300), 1.2)
    selector = fitted(X, n_groups="auto", groups=known, n_groups_to_select=2)
    summary = summarize(selector, X, feature_names=[f"g{i}_" + "q" * 2200 for i in range(1200)])
    data = data_in(render(summary))
    features = data["features"]
    assert len(features["name"]) < 1200 and sum(features["selected"]) == 600
    listed = {
        name for name, kept in zip(features["name"], features["selected"], strict=True) if kept
    }
    assert listed == {row["feature"] for row in selected_table(summary)}
    assert all(group["representative"] >= 0 for group in data["groups"])
    codes = dict(zip(summary["features"]["name"], summary["features"]["why"], strict=True))
    assert features["why"] == [codes[name] for name in features["name"]]


@pytest.mark.slow
def test_a_page_of_2000_groups_is_under_two_megabytes(pathways):
    summary = pathways
    page = render(summary)
    assert len(page.encode()) < 2_000_000
    data, n_groups = data_in(page), page.count('<article class="group')
    assert 1000 < n_groups == len(data["groups"]) < 2000
    assert len(data["correlations"]["sizes"]) < 100 < len(data["embedding"]["scores"]) <= n_groups
    n_first = n_groups - MOST_OTHER_GROUPS
    assert f"this page shows the first {n_first:,} and 240 more whose features are" in page
    shown = [group["rank"] - 1 for group in data["groups"]]
    assert shown[:n_first] == list(range(n_first)) and shown == sorted(shown)
    members = dict(zip(data["members"]["feature"], data["members"]["group"], strict=True))
    assert max(members.values()) < n_groups
    assert sum(data["features"]["selected"]) == summary["selection"]["n_features"] == 20
    group_of = dict(zip(summary["features"]["name"], summary["features"]["group"], strict=True))
    for place, name in enumerate(data["features"]["name"]):
        assert group_of[name] == shown[members[place]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not json", "is not json"),
        ("[1, 2]", 'has no "format"'),
        ('{"format": "groupfs-result", "version": 7}', "reads version 8"),
        ('{"format": "groupfs-result", "version": 8}', "lacks created, level"),
    ],
)
def test_a_file_that_is_no_result_is_refused_with_a_sentence(tmp_path, content, words):
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        read(path)


def test_a_missing_jinja2_is_told_with_the_extra_to_install(summary, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"groupfs\[report\]"):
        render(summary)
