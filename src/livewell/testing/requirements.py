"""What a test needs from the machine: skipped by name where it is missing, demanded where everything must be there."""

import os
import shutil
from typing import NoReturn

import pytest

REQUIRE_ALL = "LIVEWELL_REQUIRE_ALL"


def everything_is_required() -> bool:
    return os.environ.get(REQUIRE_ALL) == "1"


def require(program: str, *, reason: str | None = None) -> str:
    """The path of a program; without it the test is skipped by name, or fails when everything is required."""
    path = shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]))
    if path is None:
        lack(reason or f"{program} is not installed")
    return path


def lack(reason: str) -> NoReturn:
    """Skip because the machine lacks something, or fail when everything is required."""
    if everything_is_required():
        pytest.fail(f"{reason} ({REQUIRE_ALL}=1)", pytrace=False)
    pytest.skip(reason)
