"""`livewell types`: what is kept fresh, checked before it is live, added, tuned and removed."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import counted, say, show_json, show_list, show_one, show_table
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from livewell.fetching import ValueShape
    from livewell.registry import DataType, Finding
    from livewell.stores import Stores

group = listing("Show, check, add, tune and remove data types.")

Name = Annotated[str, typer.Argument(metavar="TYPE", help="The data type.")]
_FIELDS = (
    "As in livewell.toml: table, key_column, time_column, ttl_column, staleness, gate, strategy, cron, floor, bytes,"
    " source_time.column, keys.table, group, enabled …; NAME= for the default. fetch and fields are JSON, or @FILE."
)
_EXAMPLES = {
    "fetch": """write fetch='{"path": "/quote/{keys}", "key": "symbol"}', or fetch=@FILE""",
    "fields": """write fields='{"price": {"type": "number", "above": 0}}', or fields=@FILE""",
}


@group.command("list", epilog="Example: livewell types list")
def list_types(ctx: typer.Context, as_json: Json = False) -> None:
    """List data types: where each comes from, how old it may be, and where it is kept."""
    types = run(ctx, lambda app: app.registry.list_types())
    show_list(
        types,
        ("TYPE", "ENDPOINT", "TTL", "TABLE", "GATE", "STRATEGY", "FLOOR", "ENABLED"),
        lambda data_type: (
            *(
                data_type.name,
                data_type.endpoint,
                data_type.ttl,
                data_type.table_name or "record table",
                data_type.gate,
            ),
            *(
                data_type.strategy if data_type.cron is None else f"{data_type.strategy} {data_type.cron}",
                data_type.priority_floor,
                data_type.enabled,
            ),
        ),
        as_json=as_json,
    )


@group.command("show", epilog="Example: livewell types show quote")
def show_type(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one data type. With everything that can be set."""
    found = run(ctx, lambda app: one_type(app, name))
    show_one(found, as_json=as_json)


@group.command("check", epilog="Example: livewell types check quote profile")
def check_types(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="TYPE…", help="The types; all if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Find what keeps types from being kept fresh, and how to mend it. Ends with 1 when there is an error."""
    from livewell.fetching import check_fetching

    async def work(app: "Stores") -> "tuple[int, list[Finding]]":
        for name in names or ():
            await one_type(app, name)
        findings = [*await app.registry.check_types(names), *await check_fetching(app.database, names)]
        return len(names or await app.registry.list_types()), findings

    checked, findings = run(ctx, work)
    if as_json:
        show_json(findings)
    elif findings:
        show_table(
            ("TYPE", "SEVERITY", "PROBLEM", "WHAT", "FIX"),
            [
                (finding.data_type, finding.severity, finding.problem, finding.message, finding.fix)
                for finding in findings
            ],
        )
    else:
        say(f"{counted(checked, 'type')} checked: nothing is wrong")
    _fail_on_errors(findings)


@group.command("export", epilog="Example: livewell types export --ts > livewell-types.d.ts")
def export_types(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="TYPE…", help="The types; all if left out.")] = None,
    as_typescript: Annotated[
        bool, typer.Option("--ts", help="As declarations of TypeScript, for @livewell/client.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON Schema, by type; null where it is unknown.")] = False,
) -> None:
    """Write down what the values of types look like. From their tables, fields and models."""
    from livewell.cli.errors import Misused
    from livewell.cli.typescript import typescript
    from livewell.fetching import value_shapes

    if as_typescript == as_json:
        raise Misused("nothing says in which form", fix="livewell types export --ts, or --json")

    async def work(app: "Stores") -> "list[ValueShape]":
        for name in names or ():
            await one_type(app, name)
        return await value_shapes(app.database, names or None)

    shapes = run(ctx, work)
    if as_json:
        show_json({shape.data_type.name: shape.schema for shape in shapes})
    else:
        say(typescript(shapes).rstrip())


@group.command("add", epilog="Example: livewell types add quote --endpoint fmp/quote --ttl 1m gate=market_hours")
def add_type(
    ctx: typer.Context,
    name: Name,
    endpoint: Annotated[str, typer.Option("--endpoint", metavar="ENDPOINT", help="Where it is fetched from.")],
    ttl: Annotated[str, typer.Option("--ttl", metavar="DURATION", help="How old it may be, as 1m; always said.")],
    fields: Annotated[list[str] | None, typer.Argument(metavar="NAME=VALUE…", help=_FIELDS)] = None,
    as_json: Json = False,
) -> None:
    """Add a data type: one row, checked before it is live. Only for the owner of the schema."""
    from livewell.cli.inputs import duration

    wanted = {**_columns(fields or []), "endpoint": endpoint, "ttl": duration(ttl)}
    added = run(ctx, lambda app: _add(app, name, wanted), as_owner=True)
    if as_json:
        show_json(added)
    else:
        say(f"{name} is added{'' if added.enabled else ', disabled'}")


@group.command("set", epilog="Example: livewell types set quote ttl=30s floor=500")
def set_type(
    ctx: typer.Context,
    name: Name,
    changes: Annotated[list[str], typer.Argument(metavar="NAME=VALUE…", help=f"{_FIELDS} Also endpoint and ttl.")],
    reason: Reason = None,
) -> None:
    """Tune a data type while everything runs. Only the named fields change; what is watched is looked at again."""
    wanted = _columns(changes)
    changed = run(ctx, lambda app: app.registry.set_type(name, wanted, reason=reason, actor=who()), as_owner=True)
    say(f"{name} changed" if changed else f"{name} is so already")


@group.command("remove", epilog="Example: livewell types remove quote --force --reason 'sold off'")
def remove_type(
    ctx: typer.Context,
    name: Name,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also when it is in use: give up its refreshes, items, records and keys."),
    ] = False,
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Remove a data type. A table of your own stays as it is."""
    gone = run(ctx, lambda app: app.registry.remove_type(name, force=force, reason=reason, actor=who()), as_owner=True)
    if as_json:
        show_json(gone)
        return
    with_it = ", ".join(f"{number:,} {what}" for what, number in sorted(gone.items()) if number)
    say(f"{name} is removed, with {with_it}" if with_it else f"{name} is removed")


async def _add(app: "Stores", name: str, wanted: dict[str, Any]) -> "DataType":
    """Make the type in a transaction of its own; one that is there already is left as it was."""
    from livewell.cli.errors import Misused
    from livewell.fetching import declare_types

    async with app.database.transaction() as connection:
        changes = await declare_types(connection, {name: wanted}, actor=who())
        if changes[0].change != "add":
            raise Misused(f"there is a type {name} already", fix=f"livewell types set {name} NAME=VALUE…")
    return await one_type(app, name)


def _columns(words: list[str]) -> dict[str, Any]:
    from livewell.cli.inputs import duration
    from livewell.cli.tuning import tuned
    from livewell.registry import TYPE_COLUMNS

    told = {name: word.partition("=")[2] for word in words if (name := word.partition("=")[0]) in _EXAMPLES}
    columns = tuned([word for word in words if word.partition("=")[0] not in told], TYPE_COLUMNS)
    columns |= _fetching({name: text for name, text in told.items() if text})
    columns |= {TYPE_COLUMNS[name]: None for name, text in told.items() if not text}
    return {**columns, "ttl": duration(columns["ttl"])} if columns.get("ttl") else columns


def _fetching(told: dict[str, str]) -> dict[str, Any]:
    """What is said in JSON, as a file says it in TOML; with the columns that it stands for."""
    from pydantic import ValidationError

    from livewell.cli.errors import Misused
    from livewell.cli.inputs import document
    from livewell.registry import TypeDeclaration, type_fields

    content = {name: document(text, name, example=_EXAMPLES[name]) for name, text in told.items()}
    try:
        return type_fields(TypeDeclaration.model_validate(content)) if content else {}
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise Misused(f"{where}: {first['msg']}", fix=_EXAMPLES[str(first["loc"][0])]) from error


def _fail_on_errors(findings: "list[Finding]") -> None:
    from livewell.cli.errors import TypesUnsound

    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise TypesUnsound(
            f"{counted(len(errors), 'error')} in {counted(len({error.data_type for error in errors}), 'type')}:"
            f" type {errors[0].data_type}: {errors[0].message}",
            fix=errors[0].fix,
        )


async def one_type(app: "Stores", name: str) -> "DataType":
    """The type, or the fact that there is none, with what was probably meant."""
    from livewell.cli.inputs import named
    from livewell.registry import UnknownType

    return named(name, await app.registry.list_types(), UnknownType, "unknown type", "types")
