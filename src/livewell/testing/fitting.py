"""Whether a type fits: its model with its table, and an answer of its provider with both.

For the tests of those who declare types. Where a column is dropped, retyped or added, or a provider sends something
else than the model says, a test fails before a worker does.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from difflib import get_close_matches
from uuid import UUID

from livewell.app import Livewell
from livewell.budgets import Provider, Secret
from livewell.fetching import (
    Answered,
    Asked,
    Client,
    EndedFetch,
    Fetched,
    Fetching,
    FetchStore,
    Source,
    UnsoundFetch,
    check_fetching,
    source_of,
)
from livewell.registry import DataType, Finding
from livewell.testing.recorded import Recorded, bodies_of, recorded_provider

_NOBODY = UUID(int=0)
_MADE_UP = "made-up-for-a-test"


async def assert_type_fits(
    app: Livewell,
    name: str,
    *,
    key: str | Sequence[str] | None = None,
    answer: Recorded | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
) -> None:
    """Raise `AssertionError` with everything about a type that does not fit, a line each.

    Model and table are compared. With a `key` (or several) it is also fetched over HTTP, read and stored, and what was
    stored is taken back. `answer` is what the provider answers: a body, a `Path` of one, or anything JSON can hold; a
    tuple of them where several requests are made. Without it `base_url` is asked, or else the provider, with `api_key`.
    """
    if (answer is not None or base_url is not None) and key is None:
        raise ValueError("an answer is the answer for a key: say which")
    data_type = await _declared(app, name)
    problems = await _compared(app, name)
    if key is not None:
        keys = [key] if isinstance(key, str) else list(key)
        problems += await _fetched(app, data_type, keys, answer=answer, base_url=base_url, api_key=api_key)
    if problems:
        raise AssertionError(_told(name, problems))


async def _declared(app: Livewell, name: str) -> DataType:
    types = {data_type.name: data_type for data_type in await app.registry.list_types()}
    if name not in types:
        near = get_close_matches(name, types, n=1)
        raise AssertionError(f"there is no type {name}" + (f": did you mean {near[0]}?" if near else ""))
    return types[name]


async def _compared(app: Livewell, name: str) -> list[str]:
    """What the checks find; of the fetching, what may go wrong as well as what must."""
    declared = [finding for finding in await app.registry.check_types([name]) if finding.severity == "error"]
    fetched = await check_fetching(app.database, [name], fetchers=app.fetchers)
    return list(dict.fromkeys(map(_line, [*declared, *fetched])))


def _line(finding: Finding) -> str:
    return f"{finding.message} ({finding.problem}); {finding.fix}"


async def _fetched(
    app: Livewell,
    data_type: DataType,
    keys: Sequence[str],
    *,
    answer: Recorded | None,
    base_url: str | None,
    api_key: str | None,
) -> list[str]:
    try:
        async with _source(app, data_type, answer, base_url) as source, Client() as client:
            # A key that somebody pays for goes nowhere but to those it is given for.
            shown = api_key if api_key is not None or (answer is None and base_url is None) else _MADE_UP
            asked = [Asked(data_type=data_type.name, key=key) for key in keys]
            secret = None if shown is None or source.key_place is None else Secret(shown)
            answers = await Fetching(client).fetch(source, asked, secret=secret)
    except UnsoundFetch as fact:
        return [str(fact)]
    unread = [_unread(answer) for answer in answers if not isinstance(answer.outcome, Fetched)]
    return [
        *unread,
        *await _stored(app, data_type, [answer for answer in answers if isinstance(answer.outcome, Fetched)]),
    ]


@asynccontextmanager
async def _source(
    app: Livewell, data_type: DataType, answer: Recorded | None, base_url: str | None
) -> AsyncIterator[Source]:
    """The type as a worker would fetch it, but from where it is said here."""
    (endpoint,) = await app.budgets.list_endpoints([data_type.endpoint])
    (provider,) = await app.budgets.list_providers([endpoint.provider])

    def source(asked: Provider) -> Source:
        return source_of(data_type, asked, endpoint, fetcher=app.fetchers.get(data_type.name))

    if answer is not None:
        async with recorded_provider(bodies_of(answer)) as url:
            yield source(replace(provider, base_url=url, hosts=[], allow_private=True))
    elif base_url is not None:
        yield source(replace(provider, base_url=base_url, hosts=[], allow_private=True))
    else:
        yield source(provider)


async def _stored(app: Livewell, data_type: DataType, answers: Sequence[Answered]) -> list[str]:
    ended = [
        EndedFetch(number, _NOBODY, number, data_type.name, answer.key, answer.outcome)
        for number, answer in enumerate({answer.key: answer for answer in answers}.values(), start=1)
    ]
    rehearsed = await FetchStore(app.database).rehearse_fetches(ended) if ended else []
    return [
        f"{ended.key}: not stored: {ended.message or ended.outcome} ({ended.reason})"
        for ended in rehearsed
        if ended.outcome != "fetched"
    ]


def _unread(answered: Answered) -> str:
    outcome = answered.outcome
    reason = getattr(outcome, "reason", None)
    message = getattr(outcome, "message", "")
    return f"{answered.key}: {outcome.word}: {message}" + (f" ({reason})" if reason else "")


def _told(name: str, problems: Sequence[str]) -> str:
    return "\n".join([f"type {name} does not fit:", *(f"- {problem}" for problem in problems)])
