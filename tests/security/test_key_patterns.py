"""Keys and the patterns they are matched with: neither holds up a worker, nor the database."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.freshness import InvalidKey
from livewell.kernel import Connection, Database, DatabaseOptions, connect
from livewell.testing import child, effort, make_type

FETCH = """
from livewell.fetching.tests.servers import answer as http_answer, serve
from livewell.fetching.tests.stage import a_source, fetch

async def main():
    async with serve(lambda _: http_answer(b"[]")) as server:
        (found,) = await fetch(a_source(server, key_pattern=r"^(A+)+$"), ["A" * 64 + "!"])
        answer(found.outcome.word)

asyncio.run(main())
"""
EXPLODING = [
    r"^(A+)+$",
    r"^(A*)*$",
    r"^(a|aa)+(b+)*$",
    r"^((a+)b?)+$",
    r"^([a-z]+-?){1,50}$",
    r"^(a?){50}$",
    r"^(a)\1$",
    r"^([a-z]+)-\1$",
    r"^(?=a+)a$",
    r"^(?!b)a+$",
    r"^(?<=a)b$",
    r"^(?i)a+$",
    r"^((a{1,100}b){1,100}c){1,100}$",
    r"^(ab{250}){250}$",
    r"^a|b$",
    r"^[A-Z]+$|^.*$",
    r"^\Aab\Z$",
    r"^a**$",
    r"^" + "a" * 600 + "$",
]
HARMLESS = [
    r"^[A-Za-z0-9^][A-Za-z0-9._:^=-]{0,99}$",
    r"^.*$",
    r"^[A-Z]{1,5}(\.[A-Z]{1,2})?$",
    r"^[a-z]+(-[a-z0-9]+)*$",
    r"^(?:user|team):[0-9]{1,18}$",
    r"^[[:alpha:]][[:alnum:]_]*$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[^/\s]+/[^/\s]+$",
    r"^[]a-z]+$",
    r"^\^GSPC$",
]
STRANGE = [
    "",
    "A" * 257,
    "A\nB",
    "A\x1b[2J",
    "A\x7f",
    "A\x9b31m",
    "A\u202eB",
    "A\u2066B",
    "A\u200fB",
    "A\u061cB",
    "A\u2028B",
]


async def test_a_worker_does_not_match_keys() -> None:
    """A pattern that Python's engine would take years over costs a worker nothing: PostgreSQL has decided."""
    async with child(FETCH) as program:
        assert await program.answer() == "refused"


@pytest.mark.parametrize("pattern", EXPLODING)
async def test_a_pattern_that_can_explode_is_refused(owner: Database, pattern: str) -> None:
    """At the door, by a fact that says what is wrong with it."""
    await make_type(owner, "quote")
    problem = await owner.fetchval(
        "select livewell_private.type_problem(jsonb_populate_record(t, jsonb_build_object('key_pattern', $1::text)))"
        " from livewell_private.data_type as t where name = 'quote'",
        pattern,
    )
    assert problem is not None
    assert problem.startswith("key_pattern ")


@pytest.mark.parametrize("pattern", HARMLESS)
async def test_a_pattern_that_cannot_is_taken(owner: Database, pattern: str) -> None:
    """The checker is no nuisance: what people write is taken."""
    assert await owner.fetchval("select livewell_private.pattern_problem($1)", pattern) is None
    await owner.fetchval("select 'x' ~ $1", pattern)


@pytest.mark.parametrize("key", STRANGE)
async def test_strange_characters_and_lengths_make_no_key(owner: Database, key: str) -> None:
    """Whatever a pattern says: nothing with such a key is watched, imported or read."""
    await make_type(owner, "note", key_pattern="^.*$")
    with pytest.raises(InvalidKey):
        await owner.fetch(
            "select * from livewell_private.make_items(array['note'], array[$1], $2)", key, datetime.now(UTC)
        )
    assert await owner.fetch("select * from livewell.strange_keys('note', array[$1])", key) != []
    (row,) = await owner.fetch("select * from livewell.read_items('note', array[$1])", key)
    assert row["why"] == "no key of this type"
    assert await owner.fetchval("select livewell_private.is_key($1, '^.*$')", f"{key[:100]}A".translate(PLAIN)) is True


PLAIN = {ord(character): None for key in STRANGE[2:] for character in key if character not in "AB"}

atoms = st.sampled_from(["a", "b", "[ab]", "[^b]", ".", r"\.", r"\w", "[[:alnum:]]", "-"])
repeats = st.sampled_from(["", "", "", "*", "+", "?", "{3}", "{0,9}", "{2,}", "{1,99}", "{0,255}", "*?"])
patterns = st.recursive(
    st.tuples(atoms, repeats).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.tuples(st.lists(inner, min_size=1, max_size=3).map("|".join), repeats).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=12,
).map(lambda inner: f"^{inner}$")
# A match is tried for as long as possible by what nearly fits.
keys = st.tuples(st.sampled_from(["a", "ab", "b", "a-", "-", "ba"]), st.sampled_from(["!", "", "-", "\x00"])).map(
    lambda two: (two[0] * 256)[: 256 - len(two[1])] + two[1].replace("\x00", "é")
)


async def test_what_is_taken_matches_in_bounded_time(owner_url: str) -> None:
    """Every pattern the checker takes is one of PostgreSQL's, and matches the longest keys within a timeout."""
    tried = 0

    async def check(connection: Connection, pattern: str, key: str) -> None:
        nonlocal tried
        if await connection.fetchval("select livewell_private.pattern_problem($1)", pattern) is None:
            tried += 1
            await connection.fetchval("select livewell_private.is_key($1, $2)", key, pattern)

    def search() -> None:
        with asyncio.Runner() as runner:
            opened = connect(DatabaseOptions(url=owner_url))
            connection = runner.run(opened)
            runner.run(connection.execute("set statement_timeout = '10s'"))

            @given(pattern=patterns, key=keys)
            @effort(500)
            def property_(pattern: str, key: str) -> None:
                runner.run(check(connection, pattern, key))

            property_()
            runner.run(connection.close())

    await asyncio.to_thread(search)
    assert tried
