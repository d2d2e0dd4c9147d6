"""The report: a fitted selector summarised into a dict, the dict rendered as one HTML file."""

from typing import TYPE_CHECKING, Any

from groupfs.report.conditions import conditions_table
from groupfs.report.csv_rows import groups_table, selected_table
from groupfs.report.render import render
from groupfs.report.schema import read

if TYPE_CHECKING:
    from groupfs.report.summary import summarize

__all__ = ["conditions_table", "groups_table", "read", "render", "selected_table", "summarize"]


def __getattr__(name: str) -> Any:
    """Import ``summarize`` when it is asked for: a page is rendered without torch."""
    if name != "summarize":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from groupfs.report.summary import summarize

    return summarize
