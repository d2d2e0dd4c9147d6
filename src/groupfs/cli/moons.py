"""The table of ``groupfs demo``."""

from __future__ import annotations

from groupfs.tables import Table


def two_moons() -> Table:
    """The two moons as a table read from a file would be, with the moon as a column beside it."""
    import pandas as pd

    from groupfs.datasets import load_two_moons

    moons = load_two_moons(random_state=0)
    names = list(moons.feature_names)
    values = pd.DataFrame(moons.data, columns=names)
    return Table(values, names, "two moons", row_metadata=pd.DataFrame({"moon": moons.target}))
