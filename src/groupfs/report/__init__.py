"""The report: a fitted selector summarised into a dict, the dict rendered as one HTML file."""

from groupfs.report.render import render
from groupfs.report.schema import groups_table, read, selected_table
from groupfs.report.summarize import summarize

__all__ = ["groups_table", "read", "render", "selected_table", "summarize"]
