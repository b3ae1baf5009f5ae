"""Whether the API keys that are declared are there, asked before anything is sent."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from livewell.budgets import KeyRing, KeyUnreadable

if TYPE_CHECKING:
    from livewell.budgets import BudgetStore


async def missing_keys(budgets: "BudgetStore", environment: Mapping[str, str] | None = None) -> list[str]:
    """A line for each key that cannot be read, and for each provider that wants one and has none; never the key."""
    ring = KeyRing(os.environ if environment is None else environment)
    wanting = {one.name: one.key_in for one in await budgets.list_providers() if one.state == "active"}
    keys = [one for one in await budgets.list_api_keys() if one.enabled and one.provider in wanting]
    said = [
        f"provider {name} wants an API key ({key_in}) and has none: its calls go out without"
        f' (write key_env = "{name.upper().replace("-", "_")}_API_KEY" below [provider.{name}])'
        for name, key_in in wanting.items()
        if key_in is not None and not any(one.provider == name for one in keys)
    ]
    for one in keys:
        try:
            ring.read(one.source)
        except KeyUnreadable as fact:
            said.append(
                f"API key {one.name} of provider {one.provider}: {fact.message}:"
                f" nothing is fetched with it ({_fix(one.source)})"
            )
    return said


def _fix(source: str) -> str:
    """A file is looked at again; what a process knows of its environment is what it was started with."""
    scheme, _, place = source.partition(":")
    return f"export {place}=… and start again" if scheme == "env" else "put it there, nothing need be started again"
