"""`livewell keys`: which keys of a type there are, for scheduled refreshes to walk."""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import counted, note, progress, say, show_json, show_table
from livewell.cli.session import run, who
from livewell.cli.types import one_type

if TYPE_CHECKING:
    from livewell.registry import Imported, TypeKey
    from livewell.stores import Stores

BATCH = 5000
_TOLD = 20

group = listing("List, import, enable and disable the keys of data types.")

Type = Annotated[str, typer.Argument(metavar="TYPE", help="The data type.")]
Keys = Annotated[list[str], typer.Argument(metavar="KEY…", help="The keys.")]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A key in a file, and where it stands."""

    number: int
    key: str
    exchange: str | None


@group.command("list", epilog="Example: livewell keys list quote --after AAPL --limit 1000")
def list_keys(
    ctx: typer.Context,
    data_type: Annotated[str | None, typer.Argument(metavar="TYPE", help="The data type; all if left out.")] = None,
    after: Annotated[str | None, typer.Option("--after", metavar="KEY", help="Only those after this one.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most so many.")] = 100,
    as_json: Json = False,
) -> None:
    """List the keys of a type in their order, those of a table of your own too."""
    if after is not None and data_type is None:
        from livewell.cli.errors import Misused

        raise Misused("--after needs a data type", fix=f"livewell keys list TYPE --after {after}")
    found = run(ctx, lambda app: _found(app, data_type, after, limit))
    if as_json:
        show_json([{"data_type": name, **key._asdict()} for name, key in found])
        return
    show_table(("TYPE", "KEY", "ACTIVE", "EXCHANGE"), [(name, *key) for name, key in found])
    if len(found) == limit:
        last_type, last = found[-1]
        note(f"there may be more: livewell keys list {last_type} --after {last.key}")


@group.command("import", epilog="Example: livewell keys import quote symbols.csv")
def import_keys(
    ctx: typer.Context,
    data_type: Type,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A key per line, or key,exchange; - for standard input.")],
    as_json: Json = False,
) -> None:
    """Add the keys of a file to the catalogue: all of them, or nothing when one is not a key. Only for the owner."""
    lines = list(_lines(file))

    async def work(app: "Stores") -> "Imported":
        await one_type(app, data_type)
        await _require_keys(app, data_type, lines, file)
        return await _import(app, data_type, lines)

    imported = run(ctx, work, as_owner=True)
    if as_json:
        show_json(imported._asdict())
    else:
        say(f"{counted(imported.added, 'key')} added, {imported.changed:,} changed, of {len(lines):,} in {file}")


@group.command("enable", epilog="Example: livewell keys enable quote AAPL MSFT")
def enable_keys(ctx: typer.Context, data_type: Type, keys: Keys, reason: Reason = None) -> None:
    """Let scheduled refreshes walk keys again."""
    say(f"{counted(_set(ctx, data_type, keys, active=True, reason=reason), 'key')} enabled")


@group.command("disable", epilog="Example: livewell keys disable quote TWTR --reason delisted")
def disable_keys(ctx: typer.Context, data_type: Type, keys: Keys, reason: Reason = None) -> None:
    """Pass keys over in scheduled refreshes. Who looks at one still gets it fresh."""
    say(f"{counted(_set(ctx, data_type, keys, active=False, reason=reason), 'key')} disabled")


async def _found(app: "Stores", data_type: str | None, after: str | None, limit: int) -> "list[tuple[str, TypeKey]]":
    """The keys of one type, or of all of them, each with its type."""
    if data_type is not None:
        await one_type(app, data_type)
    types = [data_type] if data_type is not None else [known.name for known in await app.registry.list_types()]
    found: list[tuple[str, TypeKey]] = []
    for name in types:
        keys = await app.registry.list_keys(name, after=after, limit=limit - len(found)) if len(found) < limit else []
        found += [(name, key) for key in keys]
    return found


def _set(ctx: typer.Context, data_type: str, keys: Sequence[str], *, active: bool, reason: str | None) -> int:
    return run(
        ctx,
        lambda app: app.registry.set_keys_active(data_type, keys, active=active, reason=reason, actor=who()),
        as_owner=True,
    )


def _lines(file: str) -> Iterator[Line]:
    """The keys of a file; empty lines, comments and a heading are passed over."""
    reader = csv.reader(_text(file).splitlines(), skipinitialspace=True)
    for cells in reader:
        key, exchange = (cells[0].strip() if cells else ""), (cells[1].strip() if len(cells) > 1 else "")
        if not (key or exchange) or key.startswith("#"):
            continue
        if reader.line_num == 1 and exchange.lower() == "exchange":
            continue
        yield Line(number=reader.line_num, key=key, exchange=exchange or None)


def _text(file: str) -> str:
    from livewell.cli.errors import FileUnavailable

    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise FileUnavailable(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileUnavailable(f"cannot read {file}: it is not UTF-8") from error


async def _require_keys(app: "Stores", data_type: str, lines: Sequence[Line], file: str) -> None:
    """Refuse the file and name the lines that are not keys, before anything is written."""
    from livewell.registry import InvalidKeys

    strange: list[Line] = []
    with progress("checking") as done:
        for first in range(0, len(lines), BATCH):
            some = lines[first : first + BATCH]
            found = await app.registry.strange_keys(
                data_type, [line.key for line in some], [line.exchange for line in some]
            )
            strange += [some[position - 1] for position in found]
            done(first + len(some), len(lines))
    if strange:
        places = ", ".join(str(line.number) for line in strange[:_TOLD])
        more = f" and {len(strange) - _TOLD:,} more" if len(strange) > _TOLD else ""
        raise InvalidKeys(
            f"{file}: no key of type {data_type}, or no code of an exchange, in line {places}{more}",
            fix=f"nothing was imported; livewell types show {data_type}: its key_pattern says what a key is",
        )


async def _import(app: "Stores", data_type: str, lines: Sequence[Line]) -> "Imported":
    from livewell.registry import Imported, RegistryStore

    imported = Imported(added=0, changed=0)
    with progress("importing") as done:
        async with app.database.transaction() as connection:
            for first in range(0, len(lines), BATCH):
                some = lines[first : first + BATCH]
                keys, exchanges = [line.key for line in some], [line.exchange for line in some]
                batch = await RegistryStore(connection).import_keys(data_type, keys, exchanges, actor=who())
                imported = Imported(imported.added + batch.added, imported.changed + batch.changed)
                done(first + len(some), len(lines))
    return imported
