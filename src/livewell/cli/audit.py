"""`livewell audit`: read, verify and export the log of what was done."""

import sys
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Before, Json, as_id
from livewell.cli.output import counted, note, progress, say, show_json, show_list, shown_json
from livewell.cli.session import run

if TYPE_CHECKING:
    from livewell.audit import Finding, Head, Verification
    from livewell.stores import Stores

group = listing("Read, verify and export the audit log.")


@group.command("list", epilog="Example: livewell audit list --event kind_paused --limit 20")
def list_entries(
    ctx: typer.Context,
    event: Annotated[str | None, typer.Option("--event", help="What happened, as job_retried.")] = None,
    actor: Annotated[str | None, typer.Option("--actor", help="Who did it.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="What or whom it was about.")] = None,
    job: Annotated[int | None, typer.Option("--job", metavar="ID", parser=as_id, help="Which job.")] = None,
    table: Annotated[str | None, typer.Option("--table", help="Which table.")] = None,
    record: Annotated[str | None, typer.Option("--record", help="Which record of it.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="From then on.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Up to then.")] = None,
    before: Before = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List entries, newest first."""
    from livewell.audit import AuditStore, EntryFilter
    from livewell.cli.inputs import moment

    wanted = EntryFilter(
        event=event,
        actor=actor,
        subject=subject,
        job_id=job,
        table_name=table,
        record_id=record,
        since=moment(since),
        until=moment(until),
        before=before,
        limit=limit,
    )
    entries = run(ctx, lambda app: AuditStore(app.database).list_entries(wanted))
    show_list(
        entries,
        ("ID", "AT", "EVENT", "ACTOR", "LOGIN", "WHAT", "JOB", "REASON", "NEW"),
        lambda entry: (
            entry.id,
            entry.at,
            entry.event,
            entry.actor,
            entry.login,
            entry.subject or entry.record_id,
            entry.job_id,
            entry.reason,
            entry.new and shown_json(entry.new),
        ),
        as_json=as_json,
    )
    if len(entries) == limit:
        note(f"there may be more: --before {entries[-1].id}")


@group.command("verify", epilog="Example: livewell audit verify --head 12:9f86…, or --file audit.jsonl")
def verify(
    ctx: typer.Context,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="NUMBER:HASH", help="A head kept elsewhere: finds a tail that was cut as well."),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Verify this export instead of the database.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find what was tampered with. Edits, deletions, insertions, reorderings: exit with 1 when there is any."""
    from livewell.audit import Head
    from livewell.cli.errors import AuditNotIntact

    expected = Head.parse(head) if head else None
    found = _verify_file(file, expected) if file else run(ctx, lambda app: _verify_database(app, expected))
    if as_json:
        show_json(found)
    else:
        _report(found)
    if not found.intact:
        raise AuditNotIntact(f"the audit log is not intact: {counted(len(found.findings), 'finding')}")


@group.command("export", epilog="Example: livewell audit export --output audit.jsonl")
def export(
    ctx: typer.Context,
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Where to; standard output if left out.")
    ] = None,
    after: Annotated[
        int | None, typer.Option("--after", metavar="SEAL", parser=as_id, help="Only what comes after this seal.")
    ] = None,
) -> None:
    """Write what is sealed to a file. Its lines prove themselves without the database."""
    from livewell.cli.errors import FileUnavailable

    if output is None:
        head = run(ctx, lambda app: _export(app, sys.stdout.buffer, after or 0))
    else:
        try:
            with open(output, "xb") as file:  # noqa: PTH123 - what Typer gave is a string
                head = run(ctx, lambda app: _export(app, file, after or 0))
        except OSError as error:
            raise FileUnavailable(
                f"cannot write {output}: {error.strerror}", fix="name a file that is not there yet"
            ) from error
    note(f"head {head}: keep it elsewhere, for `livewell audit verify --head`")


async def _verify_database(app: "Stores", expected: "Head | None") -> "Verification":
    from livewell.audit import AuditStore, Verifier

    with progress("verifying") as done:
        return await Verifier(AuditStore(app.database)).run(
            expected=expected, progress=lambda made: done(made.done, made.total)
        )


def _verify_file(path: str, expected: "Head | None") -> "Verification":
    from livewell.audit import verify_export
    from livewell.cli.errors import FileUnavailable

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - what Typer gave is a string
            return verify_export(file, expected=expected)
    except OSError as error:
        raise FileUnavailable(f"cannot read {path}: {error.strerror}") from error


async def _export(app: "Stores", file: BinaryIO, after: int) -> "Head":
    """Write the lines; the last one says where they end."""
    from pydantic_core import from_json

    from livewell.audit import AuditStore, Exporter, Head

    line = b""
    with progress("exporting") as done:
        lines = Exporter(AuditStore(app.database)).lines(after=after, progress=lambda made: done(made.done, made.total))
        async for line in lines:
            file.write(line)
    end = from_json(line)
    return Head(number=end["end"], hash=end["hash"])


def _report(found: "Verification") -> None:
    for finding in found.findings:
        say(_line(finding))
    if found.truncated:
        say("… and more")
    verdict = "intact" if found.intact else "NOT intact"
    say(f"{verdict}: {counted(found.entries, 'sealed entry', 'sealed entries')}, head {found.head}")
    if found.expected:
        say(f"the head {found.expected.number} kept elsewhere was looked for")
    else:
        say("without a head kept elsewhere (--head) a tail cut off with its seals cannot be seen")
    if found.unsealed_entries or found.missing_ids:
        say(
            f"not sealed yet, so not protected yet: {found.unsealed_entries}; ids without an entry: {found.missing_ids}"
        )


def _line(finding: "Finding") -> str:
    where = f" seal {finding.seal}" if finding.seal is not None else ""
    where += f" entry {finding.entry_id}" if finding.entry_id is not None else ""
    return f"{finding.problem.value}{where}: {finding.detail}"
