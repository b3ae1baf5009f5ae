"""Processes whose clocks are wrong."""

from pathlib import Path

from livewell.testing import lack, require


def skewed(by: str) -> dict[str, str]:
    """The environment of a process whose wall clock is off; its monotonic clock is the machine's, as in life."""
    require("faketime")
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        lack("libfaketime is not where Debian puts it")
    return {"LD_PRELOAD": str(library), "FAKETIME": by, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
