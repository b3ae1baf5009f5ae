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
    types = [data_type for data_type in await RegistryStore(caller).list_types(names) if is_fetched(data_type, known)]
    findings: list[Finding] = []
    for data_type in types:
        try:
            source = await read_source(caller, data_type, fetcher=known.get(data_type.name))
        except UnsoundFetch as fact:
            findings.append(_finding(data_type, fact))
        else:
            findings += await FetchStore(caller).check_storage(data_type.name, columns_of(source.rules.reader.model))
    dormant = {data_type.name for data_type in types if not data_type.enabled}
    return [replace(finding, severity="warning") if finding.data_type in dormant else finding for finding in findings]


async def read_source(
    caller: "Caller | Connection", data_type: DataType, *, fetcher: type[Fetcher[Any]] | None = None
) -> Source:
    """The source of a type, with its provider and endpoint as they are now."""
    budgets = BudgetStore(caller)
    (endpoint,) = await budgets.list_endpoints([data_type.endpoint])
    (provider,) = await budgets.list_providers([endpoint.provider])
    return source_of(data_type, provider, endpoint, fetcher=fetcher)


def _finding(data_type: DataType, fact: UnsoundFetch) -> Finding:
    fix = fact.fix or f"livewell types show {data_type.name}"
    return Finding(data_type=data_type.name, severity="error", problem="fetch", message=fact.message, fix=fix)
