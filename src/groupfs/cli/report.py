"""``groupfs report``: write the page of a result again."""

from __future__ import annotations

from pathlib import Path

from groupfs.cli.result_folder import check_file
from groupfs.tables import TableError
from groupfs.utils.atomic_files import write_file


def write_report(result: Path, out: Path, force: bool) -> None:
    """Render the report of a result.json anew."""
    from groupfs.report import read, render

    check_file(out, force)
    try:
        summary = read(result)
    except FileNotFoundError as reason:
        raise TableError(f"There is no file {result}; check the spelling.") from reason
    except OSError as reason:
        raise TableError(f"{result} cannot be read: {reason.strerror}.") from reason
    except ValueError as reason:
        raise TableError(str(reason)) from reason
    try:
        page = render(summary).encode("utf-8")
    except (ImportError, MemoryError):
        raise
    except Exception as reason:  # a file that was changed may hold anything anywhere
        raise TableError(
            f"{result} is not a whole result ({type(reason).__name__}: {reason}); write it again "
            "with groupfs select."
        ) from reason
    write_file(out, lambda aside: aside.write_bytes(page))
