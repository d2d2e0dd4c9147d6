"""The code of the README runs as it is written, from top to bottom."""

import re
from pathlib import Path

import matplotlib
import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
@pytest.mark.docs
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_code_of_the_readme_runs(capsys):
    matplotlib.use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 4
    scope = {}
    for block in blocks:
        exec(block.replace("n_resamples=20", "n_resamples=2"), scope)
    assert "x1_1" in capsys.readouterr().out
