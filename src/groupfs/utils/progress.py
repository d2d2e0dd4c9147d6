"""The progress bar of training; nothing is imported or drawn unless it is asked for."""

from __future__ import annotations

from typing import Any


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
