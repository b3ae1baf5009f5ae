"""The JavaScript client, by its own tests on the Node.js of this machine."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from livewell.testing import require

ROOT = Path(__file__).resolve().parents[2]
_FAILED = re.compile(r"^\s*(?:not ok \d+ - |✖ )(.+)$", re.MULTILINE)
_PASSED = re.compile(r"^\W pass (\d+)$", re.MULTILINE)


def test_the_javascript_client_holds_what_it_promises() -> None:
    """Types and tests of clients/js pass, against real servers that speak the golden frames of the manual."""
    require("node")
    require("npm")
    ran = subprocess.run(
        [require("make"), "js"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if ran.returncode != 0:
        failed = "\n".join(_FAILED.findall(ran.stdout)) or "nothing was run"
        pytest.fail(f"{failed}\n\n{ran.stdout[-20_000:]}\n{ran.stderr[-5_000:]}", pytrace=False)
    (passed,) = _PASSED.findall(ran.stdout)
    assert int(passed) > 100
