"""What the product declares when it is imported: its facts and its metrics."""

import importlib
import pkgutil

import livewell
from livewell.kernel import LivewellError


def load_every_room() -> None:
    """Import every module of the product, so that what declares itself on import (facts, metrics) is declared."""
    for module in pkgutil.walk_packages(livewell.__path__, "livewell."):
        if ".tests" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def sqlstates(fact: type[LivewellError]) -> tuple[str, ...]:
    return (fact.sqlstate,) if isinstance(fact.sqlstate, str) else fact.sqlstate
