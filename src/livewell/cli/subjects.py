"""`livewell subjects`: what belongs to somebody, and with whom it is shared."""

from typing import Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import say, show_json, show_list
from livewell.cli.session import run

group = listing("Show, share and unshare what belongs to somebody.")

SubjectId = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject, by its id.")]
User = Annotated[str, typer.Argument(metavar="USER", help="The user.")]


@group.command("list", epilog="Example: livewell subjects list --owner ada")
def list_subjects(
    ctx: typer.Context,
    owner: Annotated[str | None, typer.Option("--owner", metavar="USER", help="Only this user's.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List subjects, newest first, with how many users each is shared with."""
    found = run(ctx, lambda app: app.access.list_subjects(owner=owner, limit=limit))
    show_list(
        found,
        ("SUBJECT", "KIND", "OWNER", "TENANT", "SHARES", "SINCE"),
        lambda subject: (
            subject.id,
            subject.kind,
            subject.owner,
            subject.tenant,
            subject.shares,
            subject.created_at,
        ),
        as_json=as_json,
    )


@group.command("shares", epilog="Example: livewell subjects shares patient-7")
def list_shares(ctx: typer.Context, subject: SubjectId, as_json: Json = False) -> None:
    """List with whom a subject is shared."""
    found = run(ctx, lambda app: app.access.list_shares(subject))
    show_list(
        found,
        ("USER", "RIGHTS", "BY", "SINCE"),
        lambda share: (share.user_id, share.rights, share.shared_by, share.since),
        as_json=as_json,
    )


@group.command("share", epilog="Example: livewell subjects share patient-7 bob --write")
def share(
    ctx: typer.Context,
    subject: SubjectId,
    user: User,
    write: Annotated[bool, typer.Option("--write", help="To write, too; else to read.")] = False,
    as_json: Json = False,
) -> None:
    """Share a subject with a user."""
    right = "write" if write else "read"
    changed = run(ctx, lambda app: app.access.share(subject, user, right))
    if as_json:
        show_json({"subject": subject, "user": user, "rights": right, "changed": changed})
        return
    say(f"{user} may {right} {subject}{'' if changed else ', as before'}")


@group.command("unshare", epilog="Example: livewell subjects unshare patient-7 bob")
def unshare(ctx: typer.Context, subject: SubjectId, user: User, as_json: Json = False) -> None:
    """Take back what was shared with a user, at once."""
    changed = run(ctx, lambda app: app.access.unshare(subject, user))
    if as_json:
        show_json({"subject": subject, "user": user, "changed": changed})
        return
    say(f"{user} has no part in {subject}{'' if changed else ', as before'}")
