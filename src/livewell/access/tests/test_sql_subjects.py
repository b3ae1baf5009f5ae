"""Subjects: whose they are, with whom they are shared, and one function that says so for every policy."""

import json
from typing import Any

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.access import InvalidAccess, NotSignedIn, SubjectTaken, UnknownSubject
from livewell.access.tests.callers import as_user, call
from livewell.kernel import Database, NotPermitted
from livewell.testing import connected, effort, run_apart


async def rights(owner: Database, user: str | None, subject: str = "s", **claims: Any) -> tuple[bool, bool]:
    return (
        await call(owner, user, "has_access", subject, **claims),
        await call(owner, user, "has_access", subject, "write", **claims),
    )


async def test_an_owner_shares_and_takes_back(owner: Database) -> None:
    """Its owner may all; another nothing, then read, then write, and after that nothing again, at once."""
    await call(owner, "ada", "create_subject", "s", "profile")
    assert await rights(owner, "ada") == (True, True)
    assert await rights(owner, "bob") == (False, False)
    assert await call(owner, "ada", "share", "s", "bob") is True
    assert await rights(owner, "bob") == (True, False)
    assert await call(owner, "ada", "share", "s", "bob", "write") is True
    assert await call(owner, "ada", "share", "s", "bob", "write") is False
    assert await rights(owner, "bob") == (True, True)
    assert await call(owner, "ada", "unshare", "s", "bob") is True
    assert await call(owner, "ada", "unshare", "s", "bob") is False
    assert await rights(owner, "bob") == (False, False)
    events = await owner.fetch("select event, actor from livewell_private.audit_entry order by id")
    assert [tuple(row) for row in events] == [
        ("subject_created", "ada"),
        *[("subject_shared", "ada")] * 2,
        ("subject_unshared", "ada"),
    ]


async def test_only_its_owner_decides(owner: Database) -> None:
    """Whoever else asks, also one who may write, is told that there is no such subject of theirs; one may leave."""
    await call(owner, "ada", "create_subject", "s", "profile")
    await call(owner, "ada", "share", "s", "bob", "write")
    await call(owner, "ada", "share", "s", "eve")
    for function, arguments in (
        ("share", ["s", "mallory"]),
        ("unshare", ["s", "eve"]),
        ("remove_subject", ["s"]),
        ("my_shares", ["s"]),
    ):
        for user in ("bob", "mallory"):
            with pytest.raises(UnknownSubject):
                await call(owner, user, function, *arguments)
    with pytest.raises(SubjectTaken):
        await call(owner, "bob", "create_subject", "s", "profile")
    with pytest.raises(InvalidAccess):
        await call(owner, "bob", "create_subject", "t", "profile", "ada")
    assert await call(owner, "bob", "unshare", "s", "bob") is True
    assert await rights(owner, "bob") == (False, False)


async def test_who_is_not_signed_in_has_access_to_nothing(owner: Database) -> None:
    """Without claims the answer is no, and no error, so that a policy shows nothing; changing anything is refused."""
    await call(owner, "ada", "create_subject", "s", "profile")
    for claims in (
        {},
        {"sub": ""},
        {"sub": 7},
        {"sub": "anon:ada"},
        {"sub": "x" * 201},
        {"sub": "ada", "is_anonymous": True},
    ):
        assert await rights(owner, None, **claims) == (False, False)
    async with as_user(owner, None, "livewell_anon") as connection:
        assert await connection.fetchval("select livewell.has_access('s')") is False
        assert await connection.fetch("select * from livewell.my_subjects()") == []
    with pytest.raises(NotPermitted):
        async with as_user(owner, None, "livewell_anon") as connection:
            await connection.fetch("select livewell.share('s', 'eve')")
    with pytest.raises(NotSignedIn):
        await call(owner, None, "share", "s", "eve")


async def test_a_tenant_is_a_wall(owner: Database) -> None:
    """A subject made in a tenant is for those of that tenant only, its owner and those it is shared with included."""
    await call(owner, "ada", "create_subject", "s", "profile", tenant="red")
    await call(owner, "ada", "share", "s", "bob", tenant="red")
    for user, own in (("ada", True), ("bob", False)):
        assert await rights(owner, user, tenant="red") == (True, own)
        for tenant in ("blue", None, ""):
            assert await rights(owner, user, tenant=tenant) == (False, False)
    with pytest.raises(UnknownSubject):
        await call(owner, "ada", "share", "s", "eve", tenant="blue")


async def test_the_service_has_all(owner: Database, database: Database) -> None:
    """It makes subjects of anybody's, shares and removes; what was shared goes with the subject."""
    await database.execute("select livewell.create_subject('s', 'patient', 'ada', 'red')")
    assert await database.fetchval("select livewell.share('s', 'bob')")
    assert await rights(owner, "bob", tenant="red") == (True, False)
    assert (await database.fetch("select shares from livewell.subjects"))[0][0] == 1
    await database.execute("select livewell.remove_subject('s')")
    assert await database.fetch("select * from livewell.shares") == []
    with pytest.raises(InvalidAccess):
        await database.execute("select livewell.create_subject('s', 'patient')")
    for wrong in (
        "'', 'patient', 'ada'",
        "'s', 'Pa tient', 'ada'",
        "'s', 'patient', ''",
        "E'a\\u202eb', 'patient', 'ada'",
        "null, 'patient', 'ada'",
    ):
        with pytest.raises(InvalidAccess):
            await database.execute(f"select livewell.create_subject({wrong})")
    with pytest.raises(InvalidAccess):
        await database.fetchval("select livewell.has_access('s', 'own')")


async def test_it_serves_in_a_policy(owner: Database) -> None:
    """Row by row, or once for a whole table: the same rows are seen, and unsharing takes them away at once."""
    await owner.execute(
        "create table public.letters (subject text, body text); alter table public.letters enable row level security;"
        "grant select on public.letters to livewell_user, livewell_anon;"
        "insert into public.letters select 's' || n, 'letter' from generate_series(1, 20) as n"
    )
    for n in (1, 2, 3):
        await call(owner, "ada", "create_subject", f"s{n}", "profile")
    await call(owner, "ada", "share", "s2", "bob")
    for using in ("livewell.has_access(subject)", "subject in (select id from livewell.my_subjects())"):
        await owner.execute(f"create policy p on public.letters using ({using})")
        for user, seen in (("ada", 3), ("bob", 1), ("eve", 0), (None, 0)):
            async with as_user(owner, user) as connection:
                assert await connection.fetchval("select count(*) from public.letters") == seen
        await owner.execute("drop policy p on public.letters")


async def test_it_is_found_by_its_keys(owner: Database) -> None:
    """Among many subjects and shares one answer reads a few pages, whoever asks."""
    await owner.execute(
        "insert into livewell_private.subject (id, kind, owner) select 's' || n, 'profile', 'u' || n % 500"
        " from generate_series(1, 20000) as n;"
        "insert into livewell_private.share (subject, user_id, rights, shared_by)"
        " select 's' || n, 'u' || (n + 1) % 500, 'read', 'x'"
        " from generate_series(1, 20000) as n; analyze livewell_private.subject, livewell_private.share"
    )
    for statement, most in (
        ("select livewell.has_access('s77')", 40),
        ("select count(*) from livewell.my_subjects()", 400),
    ):
        async with as_user(owner, "u78") as connection:
            await connection.fetch(statement)
            (plan,) = await connection.fetch(f"explain (analyze, buffers, format json) {statement}")
            found = json.loads(plan[0])[0]["Plan"]
            assert found["Shared Hit Blocks"] + found["Shared Read Blocks"] < most


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["share", "unshare"]),
        st.sampled_from(["ada", "bob", "eve"]),
        st.sampled_from(["bob", "eve"]),
        st.sampled_from(["read", "write"]),
    ),
    max_size=12,
)


@effort(40)
@given(moves=MOVES)
def test_rights_are_what_the_owner_last_said(owner_url: str, moves: list[tuple[str, str, str, str]]) -> None:
    """However shares come and go, and whoever else tries: each has what its owner gave last, or what it left."""

    async def play() -> None:
        known: dict[str, str] = {}
        async with connected(owner_url) as connection:

            async def ask(user: str, statement: str, *arguments: Any) -> Any:
                async with connection.transaction():
                    await connection.execute("set local role livewell_user")
                    await connection.execute(
                        "select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": user})
                    )
                    return await connection.fetchval(statement, *arguments)

            await connection.execute("delete from livewell_private.subject")
            await ask("ada", "select livewell.create_subject('s', 'profile')")
            for function, by, user, right in moves:
                arguments = [user, right] if function == "share" else [user]
                places = ", ".join(f"${n}" for n in range(1, len(arguments) + 1))
                if by != "ada" and (function, by) != ("unshare", user):
                    with pytest.raises(asyncpg.PostgresError, match="of yours"):
                        await ask(by, f"select livewell.{function}('s', {places})", *arguments)
                    continue
                await ask(by, f"select livewell.{function}('s', {places})", *arguments)
                known = {**known, user: right} if function == "share" else {u: r for u, r in known.items() if u != user}
            for user in ("bob", "eve"):
                got = [await ask(user, "select livewell.has_access('s', $1)", right) for right in ("read", "write")]
                assert got == [user in known, known.get(user) == "write"]

    run_apart(play())
