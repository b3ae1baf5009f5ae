"""Finding the application a command names, by module and attribute, from the current folder."""

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from livewell.app import Livewell
from livewell.cli.errors import NoApplication
from livewell.cli.options import Chosen
from livewell.cli.session import tell_made


def load_application(name: str, where: Chosen) -> Livewell:
    """The application behind MODULE:APP, on the database that was typed, if one was; MODULE alone means its `app`."""
    if where.explicit and where.database_url:
        os.environ["DATABASE_URL"] = where.database_url
    app = _find(name)
    if where.explicit and where.database_url:
        app.connect_to(where.database_url)
    tell_made(app.folder_to_make())
    return app


def _find(name: str) -> Livewell:
    module_name, _, attribute = name.partition(":")
    module = _import(module_name)
    found: Any = module
    for step in (attribute or "app").split("."):
        found = getattr(found, step, None)
    if isinstance(found, Livewell):
        return found
    there = [f"{module_name}:{key}" for key, value in vars(module).items() if isinstance(value, Livewell)]
    raise NoApplication(
        f"{module_name}:{attribute or 'app'} is not a Livewell application",
        fix=f"did you mean {there[0]}?" if there else "make one there: app = Livewell()",
    )


def _import(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except (ModuleNotFoundError, TypeError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and not _is_part(error.name, name):
            raise _broken(name, error) from error
        raise NoApplication(
            f"there is no module {name!r} to be found from {here}", fix="livewell worker MODULE:APP"
        ) from error
    except Exception as error:
        raise _broken(name, error) from error


def _is_part(missing: str | None, name: str) -> bool:
    """Whether it is the named module itself, or a package it is in, that is missing."""
    return missing is not None and (name == missing or name.startswith(f"{missing}."))


def _broken(name: str, error: Exception) -> NoApplication:
    """Where in the module it went wrong, in one line."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{Path(error.filename).name}:{error.lineno}"
    return NoApplication(f"cannot import {name}: {where}: {type(error).__name__}: {error}", fix="mend it there")
