"""What is installed: the locks, and the wheel that is built from the tree."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house.project import PACKAGE, ROOT


@pytest.mark.parametrize("lock", ["base.txt", "dev.txt"])
def test_a_lock_has_a_hash_for_every_line_and_no_address(lock: str) -> None:
    """The lock pins what is installed, not from where: it works with any index and trusts none."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    assert not re.search(r"https?:|file:|--(extra-)?index-url|--find-links|--trusted-host|@\s", text)
    entries = re.sub(r"\s*\\\n\s*", " ", text).strip().splitlines()
    unpinned = [entry for entry in entries if not re.match(r"[\w.\-\[\]]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)]
    assert not unpinned, "\n".join(unpinned)


def test_the_lock_holds_every_declared_dependency() -> None:
    """A dependency added to pyproject.toml without `make lock` is found here, not on a user's machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {
        "base.txt": project["project"]["dependencies"],
        "dev.txt": project["project"]["dependencies"]
        + project["project"]["optional-dependencies"]["otel"]
        + project["dependency-groups"]["dev"],
    }
    for lock, requirements in declared.items():
        text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
        locked = {_normal(name) for name in re.findall(r"^([\w.\-]+)(?:\[\S+\])?==", text, re.MULTILINE)}
        assert {_normal(re.split(r"[^\w.\-]", line)[0]) for line in requirements} <= locked


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_wheel_holds_the_sql_and_no_tests(tmp_path: Path) -> None:
    """The SQL files are the program: a wheel without one of them would migrate to half a schema."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    needed = {f"livewell/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.sql")}
    assert needed <= held
    assert "livewell/py.typed" in held
    assert [name for name in held if "/tests/" in name] == []
