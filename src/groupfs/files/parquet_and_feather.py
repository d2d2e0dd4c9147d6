"""Files with named columns in binary form: parquet and feather."""

from groupfs.files.file_content import Content
from groupfs.files.file_table import FileTable


def read_frame(content: Content) -> FileTable:
    """Read the columns of a parquet or feather file, and its index if it has one of its own."""
    import pandas as pd
    from pyarrow.feather import read_table
    from pyarrow.parquet import ParquetFile

    with content.open() as file:
        is_parquet = file.read(4) == b"PAR1"
        file.seek(0)
        stored = ParquetFile(file).read() if is_parquet else read_table(file, memory_map=False)
    # offsets of texts and codes come from the file, and Arrow would follow them anywhere
    stored.validate(full=True)
    frame = stored.to_pandas()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = names = [str(name) for name in frame.columns]
    return FileTable(frame, names, content.source)
