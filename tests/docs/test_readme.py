"""The code of the README runs as it is written, and it stays short."""

import re
import runpy
from pathlib import Path

import matplotlib
import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.mark.docs
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_readme_is_short_and_its_code_runs(tmp_path, monkeypatch, capsys):
    assert len(README.splitlines()) <= 100
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    plain, cells, published = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    script = tmp_path / "readme.py"
    script.write_text(plain + published)
    found = runpy.run_path(str(script))
    assert "worst radius" in capsys.readouterr().out
    assert found["three"].shape == (569, 3)
    assert found["scores"].shape == (569, found["selector"].n_groups_)
    assert len(found["learned"].group_gates_) == found["learned"].n_groups_ > 1

    sc = pytest.importorskip("scanpy")
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs["cell_type"] = adata.obs["bulk_labels"]
    script.write_text(cells)
    runpy.run_path(str(script), init_globals={"sc": sc, "adata": adata})
    assert adata.var["groupfs_selected"].sum() > 100
