"""Reads for viewers: what each rule lets a class see, who is of one class, and what may be looked at."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.access import NoReader, NotReadable, Principal, Readers, ReadItem
from livewell.access.readers import read_class
from livewell.access.tests.viewers import ADA, BOB, NOBODY, make_notes, make_private_notes, put_record, viewer
from livewell.access.types import TypeReading, canonical
from livewell.kernel import Database
from livewell.registry import UnknownType
from livewell.testing import effort, make_table, make_type

HIDDEN = ReadItem(value=None, visible=False)
NOTHING = ReadItem(value=None, visible=True)


async def seen(readers: Readers, who: Principal, data_type: str, *keys: str) -> dict[str, ReadItem]:
    readers.forget()
    return await readers.read(await readers.class_of(who, data_type), data_type, keys)


async def watched(readers: Readers, who: Principal, data_type: str, *keys: str) -> list[bool]:
    readers.forget()
    return await readers.may_watch(await readers.class_of(who, data_type), data_type, keys)


async def test_public_and_signed_in(owner: Database, readers: Readers) -> None:
    """What is public everybody sees, what is for the signed in only they; what is nobody's has no class."""
    for rule in ("nobody", "signed_in", "public"):
        await make_type(owner, rule, read_rule=rule)
        await put_record(owner, rule, "A", '{"price": 1.50}')
    value = ReadItem('{"price": 1.50}', visible=True)
    assert await seen(readers, NOBODY, "public", "A", "B") == {"A": value, "B": NOTHING}
    assert await seen(readers, ADA, "signed_in", "A") == {"A": value}
    for who, data_type in ((ADA, "nobody"), (NOBODY, "nobody"), (NOBODY, "signed_in")):
        with pytest.raises(NotReadable):
            await readers.class_of(who, data_type)
    with pytest.raises(UnknownType):
        await readers.class_of(ADA, "nothing")


async def test_a_claim_that_equals_the_key(owner: Database, readers: Readers) -> None:
    """`equals = "key"`: who is of a tenant sees what bears its name, and looks at nothing else."""
    await make_type(owner, "account", read_rule="claim", read_claim="tenant", read_equals="key")
    await put_record(owner, "account", "red", "1")
    await put_record(owner, "account", "blue", "2")
    assert await seen(readers, ADA, "account", "red", "blue") == {"red": ReadItem("1", visible=True), "blue": HIDDEN}
    assert await watched(readers, ADA, "account", "blue", "red", "green") == [False, True, False]
    assert await watched(readers, NOBODY, "account", "red") == [False]
    several = viewer("eve", tenant=["red", "blue", {"x": 1}, None])
    assert await watched(readers, several, "account", "blue", "red", "green") == [True, True, False]


async def test_a_claim_that_equals_a_value(owner: Database, readers: Readers) -> None:
    """`equals = "value:…"`: all or nothing, by what the claim says."""
    await make_type(owner, "gold", read_rule="claim", read_claim="plan", read_equals="value:gold")
    await put_record(owner, "gold", "A", "1")
    assert await seen(readers, viewer("ada", plan="gold"), "gold", "A") == {"A": ReadItem("1", visible=True)}
    for plan in ("Gold", "", None, {"gold": 1}, 7):
        assert await seen(readers, viewer("ada", plan=plan), "gold", "A") == {"A": HIDDEN}
    assert await seen(readers, NOBODY, "gold", "A") == {"A": HIDDEN}


async def test_a_claim_that_equals_a_column(owner: Database, readers: Readers) -> None:
    """`equals = "column:…"`: rows in which it does, one or many of a key; what is not stored yet may be looked at."""
    await make_type(
        owner, "note", read_rule="claim", read_claim="tenant", read_equals="column:tenant", **await make_notes(owner)
    )
    found = await seen(readers, ADA, "note", "a", "b", "c")
    assert json.loads(found["a"].value or "")["body"] == "of ada"
    assert found["b"] == HIDDEN
    assert found["c"] == NOTHING
    assert await watched(readers, ADA, "note", "a", "b", "c") == [True, False, True]
    table = await make_table(owner, "public.lines")
    await owner.execute(
        "alter table public.lines add column tenant text;"
        "insert into public.lines (symbol, fetched_at, tenant)"
        " select 'A', now(), t from unnest('{red,blue,red}'::text[]) as t"
    )
    await make_type(owner, "line", read_rule="claim", read_claim="tenant", read_equals="column:tenant", **table)
    rows = json.loads((await seen(readers, ADA, "line", "A"))["A"].value or "")
    assert [row["tenant"] for row in rows] == ["red", "red"]
    await make_type(owner, "own", read_rule="claim", read_claim="tenant", read_equals="column:tenant")
    await put_record(owner, "own", "A", '{"tenant": "blue"}')
    assert await seen(readers, ADA, "own", "A") == {"A": HIDDEN}
    assert (await seen(readers, BOB, "own", "A"))["A"].visible


async def test_a_function_of_the_users(owner: Database, readers: Readers) -> None:
    """It answers which keys may be read, knows the type, and learns who asks from the claims and nothing else."""
    await owner.execute(
        "create function public.may_read(p_type text, p_keys text[]) returns setof text language sql stable"
        " security definer as $$ select k from unnest(p_keys) k where p_type = 'memo'"
        " and k like (current_setting('request.jwt.claims')::jsonb ->> 'sub') || '-%' $$;"
        "grant execute on function public.may_read to livewell_reader"
    )
    await make_type(owner, "memo", read_rule="function", read_function="public.may_read")
    await put_record(owner, "memo", "ada-1", "1")
    assert await seen(readers, ADA, "memo", "ada-1", "ada-2", "bob-1") == {
        "ada-1": ReadItem("1", visible=True),
        "ada-2": NOTHING,
        "bob-1": HIDDEN,
    }
    assert await watched(readers, BOB, "memo", "ada-1", "bob-1") == [False, True]


async def test_row_level_security(owner: Database, readers: Readers) -> None:
    """`read = "rls"`: the viewer's role reads the table; a row it does not see is hidden, one not there is not."""
    await make_private_notes(owner)
    found = await seen(readers, ADA, "note", "a", "b", "c")
    assert json.loads(found["a"].value or "")["body"] == "of ada"
    assert found["b"] == HIDDEN
    assert found["c"] == NOTHING
    assert await watched(readers, BOB, "note", "a", "b", "c") == [False, True, True]
    await owner.execute("update public.notes set owner = 'bob' where id = 'a'")
    assert await seen(readers, ADA, "note", "a") == {"a": HIDDEN}


async def test_row_level_security_that_is_off_shows_nothing(owner: Database, readers: Readers) -> None:
    """Switched off, or gone round by who owns the table, there is nobody to say who sees a row, and nobody does."""
    await make_private_notes(owner)
    mine = await readers.class_of(ADA, "note")
    await owner.execute("alter table public.notes disable row level security")
    with pytest.raises(NotReadable, match="as its table is"):
        await readers.read(mine, "note", ["a"])
    await owner.execute("alter table public.notes enable row level security")
    assert (await readers.read(mine, "note", ["a"]))["a"].value is not None
    await owner.execute("alter table public.notes owner to livewell_user")
    assert await readers.read(mine, "note", ["a"]) == {"a": HIDDEN}


async def test_a_rule_that_changed_holds_for_classes_of_before(owner: Database, readers: Readers) -> None:
    """Whoever still holds a class of the old rule reads nothing that the new one does not let it."""
    await make_private_notes(owner)
    mine = await readers.class_of(ADA, "note")
    await owner.execute("update livewell_private.data_type set read_rule = 'nobody' where name = 'note'")
    with pytest.raises(NotReadable):
        await readers.read(mine, "note", ["a"])
    readers.forget()
    with pytest.raises(NotReadable):
        await readers.read(mine, "note", ["a"])


async def test_a_key_that_the_column_cannot_hold_has_no_row(owner: Database, readers: Readers) -> None:
    """One text among numbers is alone in having none; the others are read."""
    await owner.execute("create table public.numbered (id integer primary key, fetched_at timestamptz)")
    await owner.execute("insert into public.numbered select n, now() from generate_series(1, 5) as n")
    await owner.execute("alter table public.numbered enable row level security")
    await owner.execute("create policy open on public.numbered using (true)")
    await owner.execute("grant select on public.numbered to livewell_user, livewell_reader")
    await make_type(
        owner, "number", read_rule="rls", table_name="public.numbered", key_column="id", time_column="fetched_at"
    )
    found = await seen(readers, ADA, "number", "1", "x", "2", "9")
    assert [found[key].value is None for key in ("1", "x", "2", "9")] == [False, True, False, True]


async def test_many_keys_are_read_in_parts(owner: Database, readers: Readers) -> None:
    """However many are asked for: a thousand at once where each has one row, ten where it has many."""
    await make_type(owner, "public", read_rule="public")
    keys = [f"K{n}" for n in range(2500)]
    await put_record(owner, "public", "K2499", "1")
    found = await seen(readers, NOBODY, "public", *keys)
    assert len(found) == 2500
    assert found["K2499"] == ReadItem("1", visible=True)
    table = await make_table(owner, "public.lines")
    await make_type(owner, "line", read_rule="public", **table)
    assert len(await seen(readers, NOBODY, "line", *keys[:25])) == 25


async def test_who_is_of_one_class(owner: Database, readers: Readers) -> None:
    """A rule that asks for nothing has one class, one that asks for a claim one for each; else claims tell apart."""
    await make_type(owner, "public", read_rule="public")
    await make_type(owner, "signed_in", read_rule="signed_in")
    await make_type(owner, "account", read_rule="claim", read_claim="tenant", read_equals="key")
    await make_private_notes(owner)
    other = viewer("eve", tenant="red", iat=1, exp=2, nbf=3, jti="x")
    assert await readers.class_of(ADA, "public") == await readers.class_of(NOBODY, "public")
    assert await readers.class_of(ADA, "signed_in") == await readers.class_of(BOB, "signed_in")
    assert await readers.class_of(ADA, "account") == await readers.class_of(other, "account")
    assert await readers.class_of(ADA, "account") != await readers.class_of(BOB, "account")
    assert await readers.class_of(ADA, "note") != await readers.class_of(other, "note")
    again = viewer("ada", tenant="red", iat=9, jti="y")
    assert await readers.class_of(ADA, "note") == await readers.class_of(again, "note")
    await owner.execute("update livewell_private.data_type set read_claims = '{sub}' where name = 'note'")
    readers.forget("note")
    assert (await readers.class_of(viewer("ada", x=1), "note")).claims == '{"sub":"ada"}'


async def test_a_class_of_another_revision_is_another(owner: Database, readers: Readers) -> None:
    """What was read before a type changed is not the same as what is read after, also for the same viewer."""
    await make_type(owner, "public", read_rule="public")
    before = await readers.class_of(ADA, "public")
    await owner.execute("update livewell_private.data_type set updated_at = now(), ttl = '2 minutes'")
    assert await readers.class_of(ADA, "public") == before
    readers.forget("public")
    assert (await readers.class_of(ADA, "public")).digest != before.digest


async def test_a_class_is_all_that_its_transaction_knows(owner: Database, readers: Readers) -> None:
    """Role and claims of the class, read only, and nothing of whoever read before on the same connection."""
    await owner.execute(
        "create function public.known() returns text language sql stable as $$ select jsonb_build_object("
        "'role', current_user, 'claims', current_setting('request.jwt.claims', true), 'read_only',"
        " current_setting('transaction_read_only'), 'isolation', current_setting('transaction_isolation'))::text $$"
    )
    await make_private_notes(owner, "body = public.known() or true")
    await owner.execute("drop policy own on public.notes")
    await owner.execute(
        "create function public.told(text) returns boolean language plpgsql as $$ begin"
        " raise exception using errcode = 'LWC03', message = public.known(); end $$"
    )
    await owner.execute("create policy own on public.notes for select to livewell_user using (public.told(body))")
    for who in (ADA, BOB):
        with pytest.raises(Exception, match="read_only") as told:
            await readers.read(await readers.class_of(who, "note"), "note", ["a"])
        known = json.loads(
            str(told.value).partition("{")[1] + str(told.value).partition("{")[2].rpartition("}")[0] + "}"
        )
        assert known == {
            "role": "livewell_user",
            "claims": canonical(who.claims),
            "read_only": "on",
            "isolation": "repeatable read",
        }


async def test_a_login_that_is_more_than_a_viewer_is_refused(
    database: Database, owner: Database, owner_url: str, database_url: str, reader_url: str
) -> None:
    """A superuser, the service, or one that inherits does not read for viewers; without a login nobody does."""
    for url in (owner_url, database_url):
        with pytest.raises(NoReader, match="cannot read for viewers"):
            async with Readers.open(database, url):
                pass
    with pytest.raises(NoReader, match="there is no login"):
        async with Readers.open(database, None):
            pass


CLAIMS = st.dictionaries(
    st.sampled_from(["sub", "tenant", "plan", "iat", "jti"]),
    st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.lists(st.text(max_size=2), max_size=2)),
)


@effort(300)
@given(one=CLAIMS, other=CLAIMS)
def test_equal_claims_have_one_text_and_others_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two texts are equal exactly when the claims are, whatever their order; true is not 1."""
    try:
        texts = canonical(one), canonical(dict(reversed(one.items()))), canonical(other)
    except ValueError:
        return
    assert texts[0] == texts[1]
    exact = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (texts[0] == texts[2]) == exact


READINGS = st.builds(
    TypeReading,
    rule=st.sampled_from(["public", "signed_in", "claim", "function", "rls"]),
    claims=st.one_of(st.none(), st.lists(st.sampled_from(["sub", "tenant", "plan", "iat"]), max_size=3)),
    revision=st.sampled_from([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)]),
    keys_at_once=st.just(1000),
    rows_per_key=st.just(1000),
)
ASKERS = st.builds(
    lambda user, role, more: replace(viewer(user, role=role), claims={"sub": user, **more}),
    st.sampled_from(["ada", "bob"]),
    st.sampled_from(["livewell_user", "app_member"]),
    st.dictionaries(
        st.sampled_from(["tenant", "plan", "iat"]), st.sampled_from(["red", "blue", 1, True, "1", None, ["red"]])
    ),
)


@effort(500)
@given(one=ASKERS, other=ASKERS, reading=READINGS, later=READINGS)
def test_two_whom_a_declared_claim_tells_apart_are_of_two_classes(
    one: Principal, other: Principal, reading: TypeReading, later: TypeReading
) -> None:
    """They share a class, and a digest, exactly when everything their reads are given is equal; so with the type."""

    def given_to(who: Principal, how: TypeReading) -> str:
        named = set(who.claims) - {"iat", "exp", "nbf", "jti"} if how.claims is None else set(how.claims)
        role = who.role if how.rule in {"function", "rls"} else ""
        return json.dumps([role, {name: said for name, said in sorted(who.claims.items()) if name in named}])

    mine, theirs = read_class(one, "t", reading), read_class(other, "t", reading)
    assert (mine == theirs) == (mine.digest == theirs.digest) == (given_to(one, reading) == given_to(other, reading))
    again = read_class(one, "t", later)
    before, after = ((how.rule, how.revision, given_to(one, how)) for how in (reading, later))
    assert (again.digest == mine.digest) == (before == after)
    assert read_class(one, "u", reading).digest != mine.digest
