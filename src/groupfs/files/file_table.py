"""What reading a file gives, and the errors that say in one sentence why it is of no use."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import count, join_names, one_line


class TableError(ValueError):
    """A file that is absent, broken or not a table; the message is one sentence for people."""

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence))


class ColumnsError(ParameterError):
    """Columns that cannot be used as asked; the message is one sentence for people."""

    def __init__(self, message: str, parameter: str = "frame") -> None:
        super().__init__(message, parameter)


@dataclass(frozen=True)
class FileTable:
    """A table as its file has it: nothing encoded, nothing filled in."""

    values: Any  #: a DataFrame, or a sparse array of numbers alone
    names: list[str]  #: of the columns, no two alike
    source: str  #: what to call the file
    row_metadata: Any = None  #: DataFrame of what else the file says of the rows, or None
    named: bool = True  #: whether the names are the file's own
    notes: list[str] = field(default_factory=list)  #: sentences on how it was read
    labels: dict[str, str] = field(default_factory=dict)  #: wording of columns, where it is known

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_frame(self) -> bool:
        return hasattr(self.values, "columns")

    def frame(self, names: Sequence[str]) -> Any:
        """Return some of the columns as a DataFrame, whatever the values are."""
        if self.is_frame:
            return self.values[list(names)]
        import pandas as pd

        columns = self.values[:, pd.Index(self.names).get_indexer(names)]
        return pd.DataFrame(columns.toarray(), columns=list(names))


def numbered(n_columns: int) -> list[str]:
    """Return names for columns that have none, as scikit-learn gives them."""
    return [f"x{index}" for index in range(n_columns)]


def repeated_names(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, with how often."""
    counts = Counter(names).items()
    return [f"{name} ({times} times)" for name, times in counts if times > 1]


def refuse_duplicates(names: Sequence[str], source: str) -> None:
    """Refuse columns of the same name: they are spoken of, and selected, by name."""
    if twice := repeated_names(names):
        raise TableError(
            f"{source} has {count(len(twice), 'column name')} that "
            f"{'occurs' if len(twice) == 1 else 'occur'} more than once: {join_names(twice)}; "
            "rename these columns."
        )
