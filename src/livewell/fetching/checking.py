"""Checking types before anything is fetched: whether each can be, and its table takes what its model brings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from livewell.budgets import BudgetStore
from livewell.fetching.columns import columns_of
from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.fetcher import Fetcher
from livewell.fetching.sources import Source, is_fetched, source_of
from livewell.fetching.store import FetchStore
from livewell.kernel import Caller, Connection
from livewell.registry import DataType, Finding, RegistryStore


async def check_fetching(
    caller: "Caller | Connection",
    names: Sequence[str] | None = None,
    *,
    fetchers: Mapping[str, type[Fetcher[Any]]] | None = None,
) -> list[Finding]:
    """What keeps types from being fetched or stored; types that say nothing of their fetching are passed over.

    What is wrong with a disabled type is a warning: it may be declared before its table is there.
    """
    known = fetchers or {}
    types = [one for one in await RegistryStore(caller).list_types(names) if is_fetched(one, known)]
    findings: list[Finding] = []
    for one in types:
        try:
            source = await read_source(caller, one, fetcher=known.get(one.name))
        except UnsoundFetch as fact:
            findings.append(_finding(one, fact))
        else:
            findings += await FetchStore(caller).check_storage(one.name, columns_of(source.rules.reader.model))
    dormant = {one.name for one in types if not one.enabled}
    return [replace(one, severity="warning") if one.data_type in dormant else one for one in findings]


async def read_source(
    caller: "Caller | Connection", data_type: DataType, *, fetcher: type[Fetcher[Any]] | None = None
) -> Source:
    """The source of a type, with its provider and endpoint as they are now."""
    budgets = BudgetStore(caller)
    (endpoint,) = await budgets.list_endpoints([data_type.endpoint])
    (provider,) = await budgets.list_providers([endpoint.provider])
    return source_of(data_type, provider, endpoint, fetcher=fetcher)


def _finding(one: DataType, fact: UnsoundFetch) -> Finding:
    fix = fact.fix or f"livewell types show {one.name}"
    return Finding(data_type=one.name, severity="error", problem="fetch", message=fact.message, fix=fix)
