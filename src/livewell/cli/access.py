"""`livewell access`: access keys, and logins for programs that ask the database themselves."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.inputs import duration, known
from livewell.cli.options import Json, Reason
from livewell.cli.output import note, say, show_json, show_list
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from datetime import timedelta

    from livewell.kernel import LoginLimits, LoginRole
    from livewell.stores import OpenStores

group = listing("Show and make access keys, and logins for programs that ask the database themselves.")

_LONGEST = 10_000


@group.command("list", epilog="Example: livewell access list")
def list_access(ctx: typer.Context, as_json: Json = False) -> None:
    """List who may log in and is a member of a role of Livewell's."""
    from livewell.kernel import list_logins

    found = run(ctx, lambda app: list_logins(app.database))
    show_list(
        found,
        ("LOGIN", "MEMBER OF", "MADE HERE", "CONNECTIONS", "SETTINGS"),
        lambda login: (
            login.name,
            ", ".join(login.member_of),
            login.made_here,
            login.connections,
            ", ".join(login.settings),
        ),
        as_json=as_json,
    )


@group.command("login", epilog="Example: livewell access login shop --as user --connections 20")
def make(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the login.")],
    role: Annotated[
        str, typer.Option("--as", metavar="ROLE", help="What it is a member of: user, anon, service, or reader.")
    ] = "user",
    password_file: Annotated[
        str | None,
        typer.Option("--password-file", metavar="FILE", help="Where its password is, - for standard input."),
    ] = None,
    connections: Annotated[
        int | None, typer.Option("--connections", metavar="N", min=0, max=_LONGEST, help="At most so many at once.")
    ] = None,
    idle: Annotated[
        str, typer.Option("--idle-in-transaction", metavar="DURATION", help="Ends a transaction left open for longer.")
    ] = "1m",
    statement: Annotated[
        str, typer.Option("--statement", metavar="DURATION", help="Ends a statement that takes longer.")
    ] = "30s",
    lock: Annotated[
        str, typer.Option("--lock", metavar="DURATION", help="Gives up a lock that is not given within it.")
    ] = "5s",
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Make a login for a middle tier, or give one made here a new password. It is trusted to say who its users are."""
    from livewell.kernel import LoginLimits, LoginRole, new_password

    known([role], [known_role.value for known_role in LoginRole], "role")
    given = None if password_file is None else _password_in(password_file)
    password = new_password() if given is None else given
    limits = LoginLimits(
        idle_in_transaction=_limit(idle), statement=_limit(statement), lock=_limit(lock), connections=connections
    )
    members = ", ".join(LoginRole(role).roles)
    made = run(ctx, lambda app: _make(app, name, LoginRole(role), password, limits, reason), as_owner=True)
    if as_json:
        shown = {"login": name, "member_of": members, "made": made}
        show_json(shown if given is not None else {**shown, "password": password})
        return
    say(f"login {name} {'made' if made else 'changed'}: a member of {members} and of nothing else")
    if given is None:
        say(f"password {password}")
        note("the password is shown this once; keep it where the program finds it")


@group.command("keys", epilog="Example: livewell access keys")
def list_keys(ctx: typer.Context, as_json: Json = False) -> None:
    """List access keys: what each may, for whom, until when, and when it was last used."""
    found = run(ctx, lambda app: app.access.list_access_keys())
    show_list(
        found,
        ("ID", "NAME", "SCOPES", "USER", "TENANT", "EXPIRES", "REVOKED", "LAST USED", "MADE"),
        lambda key: (
            key.id,
            key.name,
            ", ".join(key.scopes),
            key.user_id,
            key.tenant,
            key.expires_at,
            key.revoked_at,
            key.last_used,
            key.created_at,
        ),
        as_json=as_json,
    )


@group.command("key", epilog="Example: livewell access key grafana --scope observer --for 90d")
def make_key(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for, for people.")],
    scopes: Annotated[
        list[str],
        typer.Option("--scope", metavar="SCOPE", help="service, operator, observer or user; may be repeated."),
    ],
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="Whose it is; one for a user needs it.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="The tenant it is bound to.")] = None,
    lasting: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="Expires after so long; never unless said.")
    ] = None,
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Make an access key. It is shown this once: what is kept is its hash."""
    from datetime import UTC, datetime

    from livewell.access import Scope, new_access_key

    known(scopes, [scope.value for scope in Scope], "scope")
    made = new_access_key()
    expires_at = None if lasting is None else datetime.now(UTC) + _limit(lasting)
    run(
        ctx,
        lambda app: app.access.add_access_key(
            made.id,
            name,
            made.hashed,
            [Scope(scope) for scope in scopes],
            user=user,
            tenant=tenant,
            expires_at=expires_at,
            reason=reason,
            actor=who(),
        ),
        as_owner=True,
    )
    if as_json:
        show_json({"id": made.id, "name": name, "scopes": scopes, "expires_at": expires_at, "key": made.key.reveal()})
        return
    say(f"access key {made.id} made: {', '.join(scopes)}")
    say(f"key {made.key.reveal()}")
    note("the key is shown this once; keep it where the program finds it")


@group.command("revoke", epilog="Example: livewell access revoke 3fa9c1d2e4b5 --reason lost")
def revoke(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID", help="The access key, by its id.")],
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Revoke an access key, at once and for good."""
    changed = run(ctx, lambda app: app.access.revoke_access_key(key, reason=reason, actor=who()), as_owner=True)
    if as_json:
        show_json({"id": key, "revoked": changed})
        return
    say(f"access key {key} {'revoked' if changed else 'was revoked before'}")


async def _make(
    app: "OpenStores", name: str, role: "LoginRole", password: str, limits: "LoginLimits", reason: str | None
) -> bool:
    """The login and the entry about it, both or neither."""
    from livewell.access import AccessStore
    from livewell.audit import AuditStore, NewEntry
    from livewell.kernel import LoginRole, make_login

    async with app.database.transaction() as connection:
        more = await AccessStore(connection).list_issuers() if role is LoginRole.READER else []
        made = await make_login(connection, name, role, password, limits, more=[issuer.role for issuer in more])
        entry = NewEntry(
            event="login_made" if made else "login_changed",
            table_name="pg_roles",
            record_id=name,
            operation="insert" if made else "update",
            new={"member_of": ", ".join(role.roles), "connections": limits.connections},
            reason=reason,
            actor=who(),
        )
        await AuditStore(connection).write_entries([entry])
    return made


def _limit(text: str) -> "timedelta":
    from livewell.cli.errors import Misused

    found = duration(text)
    if not found:
        raise Misused(f"{text!r} is no limit", fix="a duration above 0, as 30s")
    return found


def _password_in(place: str) -> str:
    """The first line of a file or of standard input: never an argument, which other users of the machine can see."""
    from livewell.cli.errors import FileUnavailable

    try:
        text = sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnavailable(f"the password cannot be read: {error}") from error
    return text.removesuffix("\n").removesuffix("\r")
