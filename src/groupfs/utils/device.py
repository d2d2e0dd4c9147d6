"""Where the computation runs, and how much memory there is."""

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
    if resolved.type not in available:
        raise ParameterError(
            f'device={device!r} is not supported; choose "auto", "cpu", "cuda", "mps".',
            "device",
        )
    if not available[resolved.type]:
        raise ParameterError(
            f"device={device!r} was asked for, but this machine or this build of torch has none; "
            'choose device="cpu" or "auto".',
            "device",
        )
    return resolved


def resolve_devices(device: Any) -> list[torch.device]:
    """List the devices that may share work: all CUDA devices, if none is singled out."""
    first = resolve_device(device)
    if first.type != "cuda" or first.index is not None or torch.cuda.device_count() == 1:
        return [first]
    return [torch.device("cuda", i) for i in range(torch.cuda.device_count())]


def working_on(device: torch.device) -> AbstractContextManager[Any]:
    """Make a device current: streams and captured graphs belong to the current one."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def memory_for_models(device: torch.device) -> int:
    """Find the bytes that models trained side by side may take."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    return 2 * 2**30
