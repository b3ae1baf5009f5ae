"""API keys, found where their `source` says, shown to nobody.

A source is `env:NAME` or `file:/path`. The database knows sources only, and a process reads of them what its own
surroundings allow (`KeySources`). A file is read again when it has changed, so a key is rotated by replacing its file;
the newline an editor leaves at its end is not part of the key.
"""

import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from livewell.budgets.errors import KeyUnreadable
from livewell.budgets.key_sources import KeySources
from livewell.kernel import MASK

_LARGEST_KEY = 65_536

_Version = tuple[int, int, int, int, int]


class Secret:
    """A value that shows itself only to `reveal()`: not in text, logs, pickles, JSON or tracebacks."""

    __slots__ = ("_hidden",)

    def __init__(self, value: str) -> None:
        self._hidden = value

    def reveal(self) -> str:
        """The value, for the one place that sends it."""
        return self._hidden

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, _spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._hidden.encode(), other._hidden.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._hidden))

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Secret":
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("a secret is not pickled: pass its source, and read it where it is used")


class KeyRing:
    """Reads the keys of this process that it may read."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, sources: KeySources | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._sources = KeySources.from_environment() if sources is None else sources
        self._files: dict[str, tuple[_Version, Secret]] = {}

    def read(self, source: str) -> Secret:
        """The key at that source as it is now; raises `KeyUnreadable`, which names the source and never the key."""
        scheme, _, place = source.partition(":")
        if scheme == "env" and place:
            self._sources.require_variable(place)
            return _checked(source, self._environment.get(place), "the variable is not set")
        if scheme == "file" and place:
            return self._from_file(source, place)
        # Somebody may have put the key itself where its source belongs.
        raise KeyUnreadable("the source of a key is neither env:NAME nor file:/path", fix="declare where the key is")

    def _from_file(self, source: str, place: str) -> Secret:
        problem, found = "it is not the file of a key, or everybody may write it", None
        try:
            path = self._sources.place_of(place)
            held = self._files.get(source)
            if held is not None and held[0] == _version(path.stat()):
                return held[1]
            found = _content(path)
        except OSError as error:
            problem = error.strerror or problem
        except ValueError:
            problem = "it is not a path"
        secret = _checked(source, found and _text(found[1]), problem)
        if found is not None:
            self._files[source] = (found[0], secret)
        return secret


def _version(found: os.stat_result) -> _Version:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _content(path: Path) -> tuple[_Version, bytes] | None:
    """What a regular file holds that not everybody may write; a pipe or a device could keep the reader waiting."""
    # Nothing that was put in the file's place since its links were followed is opened, and opening waits for nobody.
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_mode & stat.S_IWOTH:
            return None
        return _version(found), file.read(_LARGEST_KEY + 1)


def _text(content: bytes) -> str | None:
    if len(content) > _LARGEST_KEY:
        return None
    text = content.decode("utf-8", errors="replace")
    return None if "�" in text else text.rstrip("\r\n")


def _checked(source: str, text: str | None, problem: str) -> Secret:
    if text is None:
        raise KeyUnreadable(f"no key at {source}: {problem}", fix="put it there, or disable the key")
    if not text.strip():
        raise KeyUnreadable(f"no key at {source}: it is empty", fix="put it there, or disable the key")
    if not text.isprintable():
        # It goes into a header, where a line break would begin another one.
        raise KeyUnreadable(f"no key at {source}: it holds more than one line", fix="leave only the key there")
    return Secret(text)
