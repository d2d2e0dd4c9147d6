"""Whether groups hold in other rows: another cohort, another batch, next year's survey."""

from groupfs.preservation.check import GroupCheck, Preservation, check_groups
from groupfs.preservation.measure import Measured, State
from groupfs.preservation.rows_needed import RowsNeeded

__all__ = ["GroupCheck", "Measured", "Preservation", "RowsNeeded", "State", "check_groups"]
