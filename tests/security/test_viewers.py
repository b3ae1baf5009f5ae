"""Whoever's code runs in a read for viewers: a policy or function that takes another role, sets things, or stays."""

import asyncio
import json
from collections.abc import AsyncIterator
from secrets import token_hex

import asyncpg
import pytest
import pytest_asyncio

from livewell.access import NotReadable, ReadClass, Readers
from livewell.access.tests.viewers import ADA, BOB, NOBODY, make_private_notes, put_record, viewer
from livewell.kernel import Database, LivewellError
from livewell.testing import connected, make_type, until

# What a stranger's policy does before it lets a row be seen.
ROLES = [
    "reset role",
    "set role none",
    "set role livewell_service",
    "set role livewell_owner",
    "set role livewell_reader",
]


@pytest_asyncio.fixture
async def readers(database: Database, reader_url: str) -> AsyncIterator[Readers]:
    async with Readers.open(database, reader_url) as opened:
        yield opened


async def _policy_that(owner: Database, does: str) -> None:
    """A type over a table whose policy calls a function of a stranger's."""
    await owner.execute(
        "create function public.judge(body text) returns boolean language plpgsql as $$ declare v_found text; begin"
        f" {does} return body like '%' || coalesce(v_found, '') || '%'; end $$"
    )
    await make_private_notes(owner, "public.judge(body)")


@pytest.mark.parametrize("taken", ROLES)
async def test_a_policy_that_takes_another_role_gains_nothing(owner: Database, readers: Readers, taken: str) -> None:
    """Whatever role its code takes, what is private stays so: it is refused the role, or the table."""
    await make_type(owner, "secret", read_rule="nobody")
    await put_record(owner, "secret", "A", '"hidden"')
    await _policy_that(
        owner, f"execute '{taken}'; execute 'select value::text from livewell_private.record' into v_found;"
    )
    with pytest.raises((LivewellError, asyncpg.PostgresError)) as refused:
        await readers.read(await readers.class_of(ADA, "note"), "note", ["a"])
    assert "permission denied" in str(refused.value)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("taken", ["reset role", "set role livewell_service"])
async def test_the_attack_is_real(owner: Database, owner_url: str, taken: str) -> None:
    """On the service's login the same policy calls what only the service may: that is why reads are not run there."""
    await make_type(owner, "secret", read_rule="nobody")
    await put_record(owner, "secret", "A", '"hidden"')
    await _policy_that(
        owner,
        f"execute '{taken}'; execute 'select value::text from livewell.read_items(''secret'', ''{{A}}'')' into v_found;"
        " raise exception 'found %', v_found;",
    )
    name = f"livewell_attacked_{token_hex(4)}"
    await owner.execute(f"create role {name}; grant livewell_service, livewell_user to {name}")
    try:
        async with connected(owner_url) as connection:
            with pytest.raises(asyncpg.RaiseError, match="hidden"):
                await connection.execute(
                    f"set session authorization {name}; begin; set local role livewell_user; select * from public.notes"
                )
    finally:
        await owner.execute(f"drop role {name}")


@pytest.mark.parametrize("taken", ["reset role", "set role livewell_anon", "set role livewell_user"])
async def test_a_viewers_role_is_all_that_a_policy_can_take(owner: Database, readers: Readers, taken: str) -> None:
    """What viewers may not read is refused under any role that code can take."""
    await make_type(owner, "secret", read_rule="nobody")
    await _policy_that(
        owner,
        f"execute '{taken}';"
        " execute 'select value::text from livewell.read_items(''secret'', ''{A}'')' into v_found;",
    )
    with pytest.raises((NotReadable, LivewellError)):
        await readers.read(await readers.class_of(ADA, "note"), "note", ["a"])


async def test_nothing_that_was_set_outlives_a_read(owner: Database, readers: Readers) -> None:
    """A policy sets role, claims and search path for the whole session: the next class is itself all the same."""
    await _policy_that(
        owner,
        "perform set_config('request.jwt.claims', '{\"sub\":\"bob\"}', false),"
        " set_config('search_path', 'evil', false),"
        " set_config('statement_timeout', '1', false); execute 'set role livewell_anon';",
    )
    await make_type(owner, "mine", read_rule="claim", read_claim="sub", read_equals="key")
    await put_record(owner, "mine", "ada", "1")
    await put_record(owner, "mine", "bob", "2")
    for _ in range(3):
        await readers.read(await readers.class_of(ADA, "note"), "note", ["a"])
        found = await readers.read(await readers.class_of(ADA, "mine"), "mine", ["ada", "bob"])
        assert [found[key].visible for key in ("ada", "bob")] == [True, False]
    connection = await readers._viewers.acquire()  # noqa: SLF001 - the connection on which all of it ran
    assert await connection.fetchval("show statement_timeout") != "1ms"
    assert await connection.fetchval("select current_user") == "livewell_test_viewers"
    assert not await connection.fetchval("select current_setting('request.jwt.claims', true)")
    readers._viewers.release(connection)  # noqa: SLF001


async def test_a_read_that_is_given_up_leaves_nothing_behind(owner: Database, readers: Readers) -> None:
    """Cancelled in the middle, its connection is not read on by another class in the same transaction."""
    await _policy_that(
        owner, "if current_setting('request.jwt.claims') like '%ada%' then perform pg_sleep(60); end if;"
    )
    waiting = "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"

    async def sleeps() -> bool:
        return bool(await owner.fetchval(waiting))

    for _ in range(3):
        given_up = asyncio.create_task(readers.read(await readers.class_of(ADA, "note"), "note", ["a"]))
        await until(sleeps, "the policy sleeps")
        given_up.cancel()
        await asyncio.wait([given_up])
        assert given_up.cancelled()
        await owner.execute("update public.notes set body = body || '!'")
        now = await owner.fetchval("select body from public.notes where id = 'b'")
        found = await readers.read(await readers.class_of(BOB, "note"), "note", ["b"])
        assert json.loads(found["b"].value or "")["body"] == now


async def test_a_policy_writes_nothing(owner: Database, readers: Readers) -> None:
    """The transaction is read only, and code in it cannot make it another."""
    await owner.execute("create table public.heard (what text); grant all on public.heard to public")
    for does in (
        "insert into public.heard values (body);",
        "set transaction read write;",
        "perform livewell.unwatch(gen_random_uuid(), '[]');",
    ):
        await owner.execute(
            "drop table if exists public.notes; drop function if exists public.judge;"
            "delete from livewell_private.data_type"
        )
        await _policy_that(owner, does)
        with pytest.raises((LivewellError, asyncpg.PostgresError)) as refused:
            await readers.read(await readers.class_of(ADA, "note"), "note", ["a"])
        assert (
            "read-only" in str(refused.value) or "read-write" in str(refused.value) or "recovery" in str(refused.value)
        )
    assert await owner.fetchval("select count(*) from public.heard") == 0


async def test_a_prepared_statement_is_not_put_in_place_of_ours(owner: Database, readers: Readers) -> None:
    """Code that takes the connection's statements away and puts its own there changes nothing of the next read."""
    await _policy_that(
        owner,
        "execute 'deallocate all'; execute 'prepare __asyncpg_stmt_1__ as select ''forged''::text as key,"
        " ''\"forged\"''::text as value, true as visible'; v_found := '';",
    )
    await make_type(owner, "public", read_rule="public")
    await put_record(owner, "public", "A", '"true"')
    await readers.read(await readers.class_of(ADA, "note"), "note", ["a"])
    found = await readers.read(await readers.class_of(ADA, "public"), "public", ["A"])
    assert found["A"].value == '"true"'


async def test_a_function_of_a_rule_has_no_rights_of_ours(owner: Database, readers: Readers) -> None:
    """It is called as a role that has nothing of Livewell's, and cannot take another from there."""
    for does in ("reset role", "set role livewell_service", "select 1 from livewell_private.record"):
        await owner.execute(
            "drop function if exists public.may_read; delete from livewell_private.data_type;"
            "create function public.may_read(p_type text, p_keys text[]) returns setof text language plpgsql as $$"
            f" begin execute '{does}'; return query select unnest(p_keys); end $$;"
            "alter function public.may_read owner to livewell_reader;"
            "grant execute on function public.may_read to livewell_reader"
        )
        await make_type(owner, "memo", read_rule="function", read_function="public.may_read")
        with pytest.raises((LivewellError, asyncpg.PostgresError)) as refused:
            await readers.read(await readers.class_of(ADA, "memo"), "memo", ["a"])
        assert "permission denied" in str(refused.value) or "security-definer" in str(refused.value)


@pytest.mark.parametrize(
    "said", ["'); reset role; select ('", "\\'; commit; --", "{role}", "$1", "\\x00", "🐟", '"', "\\", "'" * 99]
)
async def test_claims_are_nothing_but_claims(owner: Database, readers: Readers, said: str) -> None:
    """Whatever a claim says, the transaction has it as it is written, and is the class and nothing else."""
    await make_type(owner, "mine", read_rule="claim", read_claim="note", read_equals="key", key_pattern="^.*$")
    await put_record(owner, "mine", said, "1")
    await put_record(owner, "mine", "other", "2")
    who = viewer("ada", note=said)
    found = await readers.read(await readers.class_of(who, "mine"), "mine", [said, "other"])
    assert [found[key].visible for key in (said, "other")] == [True, False]


async def test_a_forged_class_is_refused_what_it_is_not(owner: Database, readers: Readers) -> None:
    """A role that the login is no member of cannot be read as, whatever a class says."""
    await make_type(owner, "secret", read_rule="nobody")
    await put_record(owner, "secret", "A", '"hidden"')
    for role in ("livewell_service", "livewell_owner", "livewell_reader", "postgres", "livewell_test_viewers"):
        with pytest.raises((LivewellError, asyncpg.PostgresError)):
            await readers.read(ReadClass(role, "{}", "0" * 12), "secret", ["A"])


async def test_claims_of_another_are_never_the_same(owner: Database, readers: Readers) -> None:
    """Whoever comes back with other claims has another digest, so that nothing it held is taken for current."""
    await make_private_notes(owner)
    digests = {
        (await readers.class_of(who, "note")).digest
        for who in (ADA, BOB, NOBODY, ADA.__class__(**{**vars(ADA), "role": "livewell_anon"}))
    }
    assert len(digests) == 4
    await owner.execute(
        "update livewell_private.data_type set read_rule = 'claim', read_claim = 'sub', read_equals = 'column:owner'"
    )
    await owner.execute("alter table public.notes disable row level security")
    readers.forget()
    assert (await readers.class_of(ADA, "note")).digest not in digests
    assert json.loads((await readers.class_of(ADA, "note")).claims) == {"sub": "ada"}
