"""What the peers need, installed once into `.bench-cache` with pinned versions and reused while the pins stand.

A folder's name carries the hash of its pins, and `.ready` is written last: a half-made folder is made again.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".bench-cache"
PEERS = ROOT / "benchmarks" / "peers"


class Unavailable(Exception):
    """A contender cannot run here, and why."""


def python_peers() -> Path:
    """The interpreter of the peers' own environment; Node.js comes with it, so a system without Node.js will do."""
    pins = PEERS / "requirements.txt"

    def make(folder: Path) -> None:
        _call([sys.executable, "-m", "venv", str(folder)], folder.parent)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _call([*pip, "-r", str(pins)], folder)

    return _made("python", [pins], make, salt=sys.version) / "bin" / "python"


def node_peers() -> tuple[Path, Path]:
    """The Node.js program and the folder of installed modules."""
    tools = python_peers().parent
    pins = [PEERS / "package.json", PEERS / "package-lock.json"]

    def make(folder: Path) -> None:
        folder.mkdir()
        for pin in pins:
            shutil.copy(pin, folder)
        _call([str(tools / "npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder, PATH=_path(tools))

    folder = _made("node", pins, make, salt=str(tools))
    return tools / "node", folder / "node_modules"


def river_program() -> Path:
    """River's contender, built by the machine's own Go."""
    go = shutil.which("go")
    if go is None:
        raise Unavailable("Go is not installed")
    sources = sorted((PEERS / "river").glob("*"))

    def make(folder: Path) -> None:
        folder.mkdir()
        go_cache = CACHE / "go"
        _call(
            [go, "build", "-o", str(folder / "river"), "."],
            PEERS / "river",
            GOPATH=str(go_cache),
            GOMODCACHE=str(go_cache / "mod"),
            GOCACHE=str(go_cache / "build"),
            GOFLAGS="-modcacherw -buildvcs=false",
            GOTOOLCHAIN="local",
        )

    return _made("river", sources, make) / "river"


def _made(name: str, pins: list[Path], make: Callable[[Path], None], salt: str = "") -> Path:
    digest = hashlib.sha256(salt.encode())
    for pin in pins:
        digest.update(pin.read_bytes())
    folder = CACHE / f"{name}-{digest.hexdigest()[:12]}"
    ready = folder / ".ready"
    with _one_at_a_time():
        if not ready.exists():
            print(f"installing {name} peers into {folder.relative_to(ROOT)} …", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            ready.touch()
    return folder


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _call(command: list[str], folder: Path, **environment: str) -> None:
    """Run an installer; its output is shown only when it fails."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-800:]}")


def _path(first: Path) -> str:
    return f"{first}{os.pathsep}{os.environ.get('PATH', '')}"
