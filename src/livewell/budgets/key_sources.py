"""Which files and variables of this machine may be read as API keys: said where a process runs, never in the database.

The database names the source of a key, and whoever can write there could name any file. So a process reads only what
its own surroundings allow: variables by name or pattern (`LIVEWELL_KEY_VARIABLES`), files below named folders
(`LIVEWELL_KEY_FILES`), and the sources that the `livewell.toml` it runs with declares.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from livewell.budgets.errors import KeyNotAllowed

VARIABLES, FILES = "LIVEWELL_KEY_VARIABLES", "LIVEWELL_KEY_FILES"
# A key is called so by nearly everybody, and nothing else is.
USUAL_VARIABLES = ("*_API_KEY",)
USUAL_FOLDERS = (Path(".livewell/keys"),)
_PATTERN = re.compile(r"[A-Za-z0-9_*]+")


@dataclass(frozen=True, kw_only=True)
class KeySources:
    """Variables by name, `*` standing for any characters; folders below which files are; single sources."""

    variables: tuple[str, ...] = USUAL_VARIABLES
    folders: tuple[Path, ...] = USUAL_FOLDERS
    declared: frozenset[str] = frozenset()

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, variables: str | None = None, files: str | None = None
    ) -> Self:
        """As options say, else the environment: names with commas between, folders as in PATH; empty text is none."""
        environment = os.environ if environment is None else environment
        variables = environment.get(VARIABLES) if variables is None else variables
        files = environment.get(FILES) if files is None else files
        return cls(
            variables=USUAL_VARIABLES if variables is None else _names(variables),
            folders=USUAL_FOLDERS if files is None else tuple(map(Path, filter(None, files.split(os.pathsep)))),
        )

    def and_declared(self, sources: Iterable[str]) -> Self:
        """These, and what the file a process runs with names."""
        return replace(self, declared=self.declared | frozenset(sources))

    def require_variable(self, name: str) -> None:
        """Raise `KeyNotAllowed` for a variable that is not to be read here."""
        if f"env:{name}" in self.declared or any(fnmatchcase(name, pattern) for pattern in self.variables):
            return
        raise KeyNotAllowed(
            f"no key at env:{name}: it is not among the variables this process may read",
            fix=f"allow it where the worker runs: {VARIABLES}={name}, or key_env in the livewell.toml of livewell up",
        )

    def place_of(self, path: str) -> Path:
        """Where a file really is, links followed; raises `KeyNotAllowed` when keys are not read from there."""
        if ".." not in Path(path).parts:
            real = Path(os.path.realpath(path))
            folders = (os.path.realpath(folder) for folder in self.folders)
            if f"file:{path}" in self.declared or any(real.is_relative_to(folder) for folder in folders):
                return real
        raise KeyNotAllowed(
            f"no key at file:{path}: it is not in a folder this process may read keys from",
            fix=f"allow it where the worker runs: {FILES}={Path(path).parent},"
            " or key_file in the livewell.toml of livewell up",
        )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if _PATTERN.fullmatch(name) is None or not name.strip("*_"):
            raise KeyNotAllowed(
                f"{VARIABLES} has {name!r}, which allows everything or is no name",
                fix="name variables with commas between, * for any characters: ACME_API_KEY,MYAPP_*",
            )
    return names
