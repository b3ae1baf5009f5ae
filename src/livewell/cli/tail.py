"""`livewell tail`: look at keys of a type, as a viewer does, and see them change."""

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.options import Json
from livewell.cli.output import note, say, shown
from livewell.cli.session import run, who
from livewell.kernel import shown_duration, shown_text

if TYPE_CHECKING:
    from livewell.fetching import StoredItem
    from livewell.stores import Stores

EXAMPLE = "Example: livewell tail quote AAPL MSFT --fields price,volume"
_FIELDS = 4


def tail(
    ctx: typer.Context,
    data_type: Annotated[str, typer.Argument(metavar="TYPE", help="The data type.")],
    keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="What to look at.")],
    fields: Annotated[
        str | None,
        typer.Option("--fields", metavar="NAME,…", help="The fields to show, as price,volume; else the first few."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", min=1, metavar="N", help="End after so many changes; else with Ctrl-C.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look at keys of a type and print them whenever they change: whoever tails is a viewer like any other.

    A line of JSON has the whole value. A restart of PostgreSQL is waited out; the end of the command ends its session.
    """
    wanted = _names(fields)
    with suppress(KeyboardInterrupt):
        run(ctx, lambda app: _until_told(_follow(app, data_type, keys, wanted, count, as_json=as_json)))


def _names(fields: str | None) -> list[str]:
    from livewell.cli.errors import Misused

    names = [name.strip() for name in (fields or "").split(",")]
    if fields is not None and not all(names):
        raise Misused(f"--fields {fields!r} names no fields", fix="write --fields price,volume")
    return [name for name in names if name]


async def _until_told(work: Any) -> None:
    """Do something until it is done, or until SIGTERM or Ctrl-C; a second one cuts off."""
    from livewell.kernel import wait_for_any

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    following = asyncio.create_task(work)

    def told() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        loop.remove_signal_handler(signal.SIGINT)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    await wait_for_any(following, stop)
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following


async def _follow(
    app: "Stores", data_type: str, keys: Sequence[str], fields: Sequence[str], count: int | None, *, as_json: bool
) -> None:
    ttls = {known.name: known.ttl for known in await app.registry.list_types([data_type]) if known.ttl_column is None}
    changes = 0
    async with aclosing(app.items.watch(data_type, keys, user=f"tail:{who()}")) as watched:
        async for item in watched:
            if item.value is None:
                note(f"{item.key}  {item.why}")
                continue
            for line in _as_json(item) if as_json else _as_lines(item, fields, ttls.get(data_type)):
                say(line)
            sys.stdout.flush()
            changes += 1
            if changes == count:
                return


def _as_json(item: "StoredItem") -> Iterator[str]:
    from pydantic_core import to_json

    yield to_json({"at": datetime.now(UTC), **asdict(item)}).decode()


def _as_lines(item: "StoredItem", fields: Sequence[str], ttl: timedelta | None) -> Iterator[str]:
    """A line, and where a key has many rows one more for each of them."""
    begin = f"{datetime.now():%H:%M:%S}"  # noqa: DTZ005 - the clock of who looks
    rows = item.value if isinstance(item.value, list) else None
    told = [f"{len(rows)} rows"] if rows is not None else _told(item.value, item.key, fields)
    viewers = f"({item.viewers} {'viewer' if item.viewers == 1 else 'viewers'})"
    yield "  ".join([begin, item.key, *told, *_state(item, ttl), viewers])
    for row in rows or ():
        yield "  ".join([" " * len(begin), *_told(row, item.key, fields)])


def _state(item: "StoredItem", ttl: timedelta | None) -> Iterator[str]:
    if item.age is not None:
        yield f"age {shown_duration(_tenths(item.age))}"
    if item.is_stale:
        yield item.why
    elif item.age is not None and ttl is not None:
        yield f"next in {shown_duration(_tenths(max(ttl - item.age, timedelta())))}"


def _told(row: Any, key: str, fields: Sequence[str]) -> list[str]:
    """The fields asked for, else the first that are short and do not repeat the key."""
    if not isinstance(row, Mapping):
        return [] if row is None else [shown(row)]
    if fields:
        return [f"{name} {shown(row.get(name))}" for name in fields]
    short = [
        shown_text(f"{name} {value}")
        for name, value in row.items()
        if value != key and isinstance(value, str | int | float)
    ]
    return short[:_FIELDS]


def _tenths(length: timedelta) -> timedelta:
    return timedelta(seconds=round(length.total_seconds(), 1))
