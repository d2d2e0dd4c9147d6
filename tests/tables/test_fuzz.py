"""A short run of the fuzzer, and that it notices what it is to notice.

The long run is ``python -m tests.support.fuzz --inputs 100000``.
"""

import random
import subprocess
import sys

import pytest

pytest.importorskip("anndata")
pytest.importorskip("h5py")
pytest.importorskip("jinja2")
pytest.importorskip("pyarrow")
pytest.importorskip("rdata")
pytest.importorskip("skops")
pytest.importorskip("typer")

from tests.support.fuzz import runner
from tests.support.fuzz.targets import KINDS, seeds_of


def test_two_thousand_mutants_of_every_kind_are_read_or_refused():
    counts, findings = runner.fuzz(2000, seed=0)
    assert not findings, runner.table(counts, findings)
    assert set(counts) == set(KINDS) and sum(c.total() for c in counts.values()) == 2000


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_edits_of_a_kind_are_made(kind):
    """One that fails is replaced by plain damage, so it would not be missed."""
    draw, failed = random.Random(0), []
    for mutator in KINDS[kind].mutators:
        for data in seeds_of(kind):
            for _ in range(5):
                try:
                    mutator(data, draw)
                    failed.append(False)
                except Exception:
                    failed.append(True)
    assert sum(failed) < 0.3 * len(failed)


def test_an_input_is_the_same_whenever_it_is_made():
    kinds = ["csv", "npz", "mat", "h5ad", "data rda"]
    code = "from tests.support.fuzz.targets import make_input\n"
    code += f"for i in range(40): print(make_input(5, i, {kinds}))"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=runner.ROOT)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout) > 10_000


def test_a_reader_that_fails_hangs_dies_grows_or_runs_code_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "LONGEST", 2.0)
    found = []
    for n_inputs, kinds in ((12, ["fails", "runs", "grows"]), (1, ["hangs"]), (1, ["dies"])):
        found += runner.fuzz(n_inputs, seed=0, kinds=kinds, keep=tmp_path)[1]
    what = {finding["kind"]: finding["what"] for finding in found}
    assert len(found) == len(list(tmp_path.iterdir())) == 14
    assert what["fails"].startswith("ZeroDivisionError") and what["grows"].startswith("MemoryError")
    assert what["hangs"] == "no end after 2 s" and what["dies"].startswith("crash")
    assert what["runs"].startswith("ran code: os.system")
