"""Tables to try the methods on."""

from groupfs.datasets.two_moons import load_two_moons

__all__ = ["load_two_moons"]
