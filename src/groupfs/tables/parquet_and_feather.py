"""Files with named columns in binary form: parquet and feather."""

from typing import Any

from groupfs.tables.child_process import parse_in_child
from groupfs.tables.delimited_text import import_pandas
from groupfs.tables.file_content import Content, refuse_broken
from groupfs.tables.table import Table


def read_frame(content: Content) -> Table:
    """Read the columns of a parquet or feather file, and its index if it has one of its own."""
    imports = ["pandas", "pyarrow.feather", "pyarrow.parquet"]
    parts = parse_in_child(parse_frame, content, imports)
    with refuse_broken(content):
        frame = parts["table"].to_pandas()
        if not isinstance(frame.index, import_pandas().RangeIndex):
            frame = frame.reset_index()
        frame.columns = names = [str(name) for name in frame.columns]
    return Table(frame, names, content.source)


def parse_frame(path: str, source: str) -> dict[str, Any]:
    """Read a parquet or feather file, whichever it is, as an Arrow table."""
    from pyarrow.feather import read_table
    from pyarrow.parquet import ParquetFile

    with open(path, "rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    table = ParquetFile(path).read() if is_parquet else read_table(path, memory_map=False)
    # offsets of texts and codes come from the file, and Arrow would follow them anywhere
    table.validate(full=True)
    table.to_pandas()  # a column of nulls takes no memory before
    return {"table": table}
