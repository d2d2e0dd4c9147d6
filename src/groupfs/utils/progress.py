"""The progress bar of training; nothing is imported or drawn unless it is asked for."""

from __future__ import annotations

from typing import Any, Self


class Progress:
    """A bar over epochs with the loss of the best model and the mean number of open gates."""

    def __init__(self, n_epochs: int, shown: bool, name: str, done: int = 0) -> None:
        self.bar: Any = None
        if shown:
            from tqdm import tqdm

            self.bar = tqdm(total=n_epochs, initial=done, desc=name, unit="epoch")

    @property
    def shown(self) -> bool:
        return self.bar is not None

    def advance(self, loss: float, n_open: float) -> None:
        self.bar.set_postfix(loss=f"{loss:.4f}", open_gates=f"{n_open:.1f}", refresh=False)
        self.bar.update()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


class Steps:
    """A bar over the rows of one pass over a table."""

    def __init__(self, n_rows: int, shown: bool, name: str) -> None:
        self.bar: Any = None
        if shown:
            from tqdm import tqdm

            self.bar = tqdm(total=n_rows, desc=name, unit="row", unit_scale=True)

    def __enter__(self) -> Self:
        return self

    def advance(self, n_rows: int) -> None:
        if self.bar is not None:
            self.bar.update(n_rows)

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()
