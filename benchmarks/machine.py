"""What the figures were measured on: processor, memory, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["available_cores", "busy_cores", "describe_machine", "installed_versions"]

_INSTRUCTION_SETS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512vl", "asimd", "sve")


def available_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0))


def busy_cores() -> float:
    """Return how many cores were busy in the last minute, on average."""
    return os.getloadavg()[0]


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory, instruction sets and system, and how busy they are."""
    cpu = _first_entries(Path("/proc/cpuinfo"))
    memory = _first_entries(Path("/proc/meminfo"))
    features = set(cpu.get("flags", cpu.get("Features", "")).split())
    return {
        "cpu": cpu.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "cores_available": available_cores(),
        "memory_bytes": 1024 * int(memory["MemTotal"].split()[0]),
        "isa": [name for name in _INSTRUCTION_SETS if name in features],
        "system": platform.platform(),
        "python": platform.python_version(),
        "busy_cores_before": busy_cores(),
    }


def installed_versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Return the version of each package, None where it is not installed."""
    return {package: _version(package) for package in packages}


def _version(package: str) -> str | None:
    """Return the installed version, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _first_entries(file: Path) -> dict[str, str]:
    """Return the "key : value" lines of a file of the system, of equal keys the first."""
    entries: dict[str, str] = {}
    for line in file.read_text().splitlines():
        key, _, value = line.partition(":")
        entries.setdefault(key.strip(), value.strip())
    return entries
