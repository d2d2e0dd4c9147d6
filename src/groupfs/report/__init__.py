"""The report: a fitted selector summarised into a dict, the dict rendered as one HTML file."""

from groupfs.report.csv_rows import conditions_table, groups_table, scales_table, selected_table
from groupfs.report.render import render
from groupfs.report.schema import read
from groupfs.report.summary import summarize, summarize_check

__all__ = ["conditions_table", "groups_table", "read", "render", "scales_table"]
__all__ += ["selected_table", "summarize", "summarize_check"]
