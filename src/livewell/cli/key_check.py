"""Which API keys a process may read, and whether those that are declared are there, asked before anything is sent."""

from typing import TYPE_CHECKING

from livewell.budgets import KeyNotAllowed, KeySources, KeyUnreadable, key_sources_of

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.budgets import BudgetStore, KeyRing
    from livewell.kernel import Declarations


def allow_keys(
    app: "Livewell", variables: str | None, files: str | None, declared: "Declarations | None" = None
) -> None:
    """Let an application read keys where options say, else where it was made to, and those of the file it runs with."""
    if variables is not None or files is not None:
        app.key_sources = KeySources.from_environment(variables=variables, files=files)
    if declared is not None:
        from livewell.access import issuer_sources

        app.key_sources = app.key_sources.and_declared(key_sources_of(declared.sections.get("provider", {})))
        app.key_sources = app.key_sources.and_declared(issuer_sources(declared.sections.get("access", {})))


async def missing_keys(budgets: "BudgetStore", ring: "KeyRing") -> list[str]:
    """A line for each key that cannot be read, and for each provider that wants one and has none; never the key."""
    wanting = {
        provider.name: provider.key_in for provider in await budgets.list_providers() if provider.state == "active"
    }
    keys = [key for key in await budgets.list_api_keys() if key.enabled and key.provider in wanting]
    said = [
        f"provider {name} wants an API key ({key_in}) and has none: its calls go out without"
        f' (write key_env = "{name.upper().replace("-", "_")}_API_KEY" below [provider.{name}])'
        for name, key_in in wanting.items()
        if key_in is not None and not any(key.provider == name for key in keys)
    ]
    for key in keys:
        try:
            ring.read(key.source)
        except KeyUnreadable as fact:
            said.append(
                f"API key {key.name} of provider {key.provider}: {fact.message}:"
                f" nothing is fetched with it ({_fix(key.source, fact)})"
            )
    return said


def _fix(source: str, fact: KeyUnreadable) -> str:
    """A changed file is read again; a variable is what it was when the process started."""
    if isinstance(fact, KeyNotAllowed) and fact.fix is not None:
        return fact.fix
    scheme, _, place = source.partition(":")
    return f"export {place}=… and start again" if scheme == "env" else "put it there, nothing need be started again"
