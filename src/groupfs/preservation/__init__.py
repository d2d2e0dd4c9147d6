"""Whether groups hold in other rows: another cohort, another batch, next year's survey."""

from groupfs.preservation.check import GroupCheck, Preservation, check_groups
from groupfs.preservation.measure import Measured, State

__all__ = ["GroupCheck", "Measured", "Preservation", "State", "check_groups"]
