"""Where the computation runs."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from groupfs.utils.errors import ParameterError

DTYPE = torch.float32


def resolve_device(device: Any) -> torch.device:
    """Find the device asked for; "auto" is CUDA where there is one, else the CPU."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ParameterError(
            f'device={device!r} is not known; choose "auto", "cpu", "cuda", "cuda:1" or "mps".',
            "device",
        ) from error
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not available.get(resolved.type, False):
        raise ParameterError(
            f"device={device!r} was asked for, but this machine or this build of torch has none; "
            'choose device="cpu" or "auto".',
            "device",
        )
    return resolved


def working_on(device: torch.device) -> AbstractContextManager[Any]:
    """Make a device current: streams and captured graphs belong to the current one."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
