"""Text too large for memory: one pass over it, and a random sample of its rows, read as a file is.

Rows are drawn as they stand in the file, and those drawn are parsed all at once, so that columns
are taken for what they would be taken for in a small file.
"""

import csv
import io
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, tee
from pathlib import Path
from typing import IO, Any

from groupfs.data.memory import PER_NUMBER, memory_budget, plan_rows
from groupfs.files.delimited_text import Layout, find_layout, parse, refuse_unparsed
from groupfs.files.file_content import find_content
from groupfs.files.file_table import FileTable
from groupfs.files.ids import FILE_ROWS

#: Bytes of memory that reading takes at its peak per byte of text, and most of text per packed one.
PER_BYTE, PACKED = 4, 20
#: Share of the memory for a fit that a sample takes with all that is made of it, and most bytes.
SHARE, MOST_BYTES = 0.5, 2**32
#: What bytes that are no UTF-8 are decoded to.
NO_UTF8 = re.compile("[\udc80-\udcff]")


def is_too_large(path: str | Path, max_memory: Any = None) -> bool:
    """Tell whether a file is text that memory may not hold as a whole."""
    content = find_content(path)
    if content.path is None or content.format != "text":
        return False
    n_bytes = content.path.stat().st_size * (PACKED if content.is_packed else 1)
    return PER_BYTE * n_bytes > memory_budget(max_memory)


def read_sample(path: str | Path, header: bool | None = None, max_memory: Any = None) -> FileTable:
    """Read as many rows of a text file, drawn at random, as memory allows, in their order.

    Every row has a random number, and those with one below 1, 1/2, 1/4, ... are drawn: the first of
    these bounds at which they find room, so that a little more or less memory changes nothing. The
    index of the values tells which rows of the file they are.
    """
    import pandas as pd

    content, budget = find_content(path), memory_budget(max_memory)
    drawn: list[tuple[float, int, bytes, int]] = []  # with what each takes of the memory
    bound, held, n_rows, room = 1.0, 0, 0, min(SHARE * budget, MOST_BYTES)
    with content.open() as file:
        layout = find_layout(file, content.source, header, n_bytes=2**22)
        names, n_header = layout.header.names, layout.header.n_rows
        plan_rows(2, len(names), budget, max_memory)  # refuses where hardly a row fits
        file.seek(0)
        with refuse_unparsed(layout):
            records, number = _records(file, layout), random.Random(0).random
            head = "".join(islice(records, n_header))
            is_utf8, per_row = layout.encoding != "cp1252", PER_NUMBER * len(names)
            for n_rows, record in enumerate(records, 1):
                is_utf8 = is_utf8 and (record.isascii() or not NO_UTF8.search(record))
                if (drawn_at := number()) < bound:
                    row = record.encode("utf-8", "surrogateescape")
                    drawn.append((drawn_at, n_rows - 1, row, per_row + PER_BYTE * len(row)))
                    held += drawn[-1][-1]
                while held > room:
                    bound /= 2
                    drawn = [row for row in drawn if row[0] < bound]
                    held = sum(row[-1] for row in drawn)
    if is_utf8:
        layout = replace(layout, encoding="utf-8")
    elif layout.encoding != "cp1252":  # its beginning was UTF-8
        names = [name.encode().decode("cp1252", "replace") for name in names]
        layout = replace(layout, encoding="cp1252", header=replace(layout.header, names=names))
    text = b"".join([head.encode("utf-8", "surrogateescape"), *[row[2] for row in drawn]])
    table = parse(io.BytesIO(text), layout)
    if len(drawn) < n_rows:
        table.values.index = pd.Index([row[1] for row in drawn], name=FILE_ROWS)
        sentence = (
            f"{table.source} is too large to be held in memory at once, so {len(drawn):,} of "
            f"{n_rows:,} rows, drawn at random, stand for it."
        )
        table.notes.insert(0, sentence)
    return table


def _records(file: IO[bytes], layout: Layout) -> Iterator[str]:
    """Give header and rows as they stand in the file, but no blank lines; refuse longer ones."""
    import pandas as pd

    is_utf16, separator = layout.encoding == "utf-16", layout.separator
    encoding, errors = ("utf-16", "replace") if is_utf16 else ("utf-8-sig", "surrogateescape")
    lines = io.TextIOWrapper(file, encoding, errors, newline="")
    blank = " \r\n" if separator == "\t" else " \t\r\n"
    most, n_before = len(layout.header.names), -layout.header.n_rows
    for number, line in enumerate(lines, 1):
        if '"' in line:  # quoted cells may go on in further lines
            feed, again = tee(chain([line], lines, [""]))
            reader = csv.reader(feed, delimiter=separator, skipinitialspace=True)
            n_cells = len([cell for cell in next(reader) if cell or separator != " "])
            *_, last = taken = list(islice(again, reader.line_num))
            if not last:
                raise csv.Error(f"EOF inside string starting at row {number - 1}")
            line = "".join(taken)
        elif not line.strip(blank):
            continue
        else:
            n_cells = len(line.split()) if separator == " " else line.count(separator) + 1
        if n_cells > most and n_before == 0:
            raise pd.errors.ParserWarning
        if n_cells > most and n_before > 0:
            raise csv.Error(f"Expected {most} fields in line {number}, saw {n_cells}")
        n_before += 1
        yield line
    lines.detach()  # or the file would be closed with them
