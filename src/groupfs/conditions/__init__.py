"""Where a group matters: score, cohesion and mean of every group within each condition.

The selector is fitted without conditions; these come after. A condition is a category of each
sample, such as a treatment (:func:`compare`), or a number, such as time (:func:`curves`).
:func:`only_in` looks for groups that are there in one condition and in no other.
"""

from groupfs.conditions.compare import Comparison, Curves, compare, curves
from groupfs.conditions.estimates import Change, Estimate
from groupfs.conditions.only_in import OnlyIn, only_in

__all__ = ["Change", "Comparison", "Curves", "Estimate", "OnlyIn", "compare", "curves", "only_in"]
