"""Tables to try the methods on."""

from groupfs.datasets.fetch import DATASETS, fetch_dataset
from groupfs.datasets.two_moons import load_two_moons

__all__ = ["DATASETS", "fetch_dataset", "load_two_moons"]
