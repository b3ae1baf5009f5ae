"""Who may see an item is told it, nobody else, and whoever may no longer is told nothing more."""

import pytest
import pytest_asyncio

from livewell.access import AccessStore
from livewell.app import Livewell
from livewell.kernel import Database
from livewell.live import CloseCode
from livewell.testing import ServedApi, Viewer, make_access_key, make_type, until, viewing

NOTES = """
create schema notes;
create table notes.note (id text primary key, author text not null, words text not null, fetched_at timestamptz);
alter table notes.note enable row level security;
alter table notes.note force row level security;
create policy own on notes.note for select to livewell_user
    using (author = current_setting('request.jwt.claims', true)::jsonb ->> 'sub');
create policy reads on notes.note for select to livewell_reader using (true);
create policy writes on notes.note for all to livewell_writer using (true) with check (true);
grant usage on schema notes to livewell_user, livewell_reader, livewell_writer;
grant select on notes.note to livewell_user, livewell_reader;
grant select, insert, update on notes.note to livewell_writer;
"""


async def make_notes(owner: Database) -> None:
    """A type whose rows belong to their authors, by the row-level security of the user's own table."""
    await owner.execute(NOTES)
    await make_type(owner, "note", table_name="notes.note", key_column="id", time_column="fetched_at", read_rule="rls")


@pytest_asyncio.fixture
async def notes(owner: Database) -> None:
    """Notes of users."""
    await make_notes(owner)


async def write(owner: Database, note: str, author: str, words: str) -> None:
    """The application writes a row, and says so."""
    await owner.execute(
        "insert into notes.note values ($1, $2, $3, now())"
        " on conflict (id) do update set author = excluded.author, words = excluded.words",
        note,
        author,
        words,
    )
    await owner.execute("select livewell.changed('note', array[$1])", note)


async def key_of(owner: Database, user: str) -> str:
    return (await make_access_key(owner, user=user)).key.reveal()


async def test_anonymous_viewers_see_what_is_public_only(served: ServedApi, owner: Database) -> None:
    """A type that is for who is signed in is refused to others, and does not count as looked at."""
    await make_type(owner, "news", read_rule="signed_in")
    await make_type(owner, "plan", read_rule="nobody")
    async with viewing(served.address) as stranger, viewing(served.address) as ada:
        await stranger.hello(("news", "A"), ("plan", "A"), ("quote", "A"))
        await stranger.next("row", "A")
        assert {named[0] for named in stranger.refused} == {"news", "plan"}
        await ada.hello(("news", "A"), ("plan", "A"), token=await key_of(owner, "ada"))
        assert (await ada.next("row"))["type"] == "news"
        assert {named[0] for named in ada.refused} == {"plan"}
        assert await owner.fetchval("select array_agg(data_type order by data_type) from livewell_private.item") == [
            "news",
            "quote",
        ]


@pytest.mark.usefixtures("notes")
async def test_each_user_sees_the_own_rows(served: ServedApi, owner: Database) -> None:
    """Under row-level security nobody is told another's row, before and after it changes hands."""
    await write(owner, "1", "ada", "mine")
    async with viewing(served.address) as ada, viewing(served.address) as bob:
        await ada.hello(("note", "1"), token=await key_of(owner, "ada"))
        await bob.hello(("note", "1"), token=await key_of(owner, "bob"))
        assert (await ada.next("row"))["value"]["words"] == "mine"
        assert (await bob.next("no"))["code"] == "live.not_visible"
        await write(owner, "1", "ada", "still mine")
        assert (await ada.next("row"))["value"]["words"] == "still mine"
        await write(owner, "1", "bob", "now his")
        assert (await ada.next("row"))["value"] is None
        assert not bob.rows
        await bob.watch(("note", "1"))
        assert (await bob.next("row"))["value"]["words"] == "now his"


@pytest.mark.usefixtures("notes")
async def test_the_same_rows_under_other_claims_are_never_the_same(served: ServedApi, owner: Database) -> None:
    """A client that comes back as somebody else is never told that what it has is what it would get."""
    await write(owner, "1", "ada", "mine")
    async with viewing(served.address) as ada:
        await ada.hello(("note", "1"), token=await key_of(owner, "ada"))
        version = (await ada.next("row"))["version"]
    await owner.execute("update notes.note set author = 'bob'")
    async with viewing(served.address) as bob:
        await bob.hello(items=[{"type": "note", "key": "1", "version": version}], token=await key_of(owner, "bob"))
        assert (await bob.until(lambda frame: frame["frame"] in {"row", "age"}))["frame"] == "row"


async def test_a_revoked_key_ends_its_connections_at_once(served: ServedApi, owner: Database) -> None:
    """Whoever came by an access key is let go as it is revoked, and nothing that is stored after is sent."""
    made = await make_access_key(owner, user="ada")
    async with viewing(served.address) as ada:
        await ada.hello(("quote", "A"), token=made.key.reveal())
        await ada.next("row")
        await AccessStore(owner).revoke_access_key(made.id, reason=None, actor="tests")
        await owner.execute("""select * from livewell.put('quote', '{"A": {"price": 9}}')""")
        assert await ada.ended() == CloseCode.BAD_CREDENTIAL
        assert ada.rows["quote", "A"]["value"] is None


async def test_a_rule_that_changes_acts_at_once(app: Livewell, served: ServedApi, owner: Database) -> None:
    """When a type is no longer public its viewers are told to drop it, and look at it no more."""
    await owner.execute("""select * from livewell.put('quote', '{"A": {"price": 1}}')""")
    async with viewing(served.address) as viewer:
        await viewer.hello(("quote", "A"))
        await viewer.next("row")
        await owner.execute("update livewell_private.data_type set read_rule = 'nobody', updated_at = now()")
        await owner.execute("""select * from livewell.put('quote', '{"A": {"price": 2}}')""")
        assert (await viewer.next("no"))["code"] == "access.not_readable"
        assert not viewer.rows
        assert all(frame.get("value") != {"price": 2} for frame in viewer.frames)

        async def nobody() -> bool:
            return bool(await owner.fetchval("select viewers from livewell_private.item") == 0)

        await until(nobody, "it is looked at no more")


async def test_members_of_a_class_share_one_read(served: ServedApi, owner: Database) -> None:
    """What the database cannot tell apart is read once: of a public type, for all of them."""

    async def come(viewer: Viewer, user: str | None) -> None:
        await viewer.hello(("quote", "A"), token=None if user is None else await key_of(owner, user))
        await viewer.next("row")

    async with viewing(served.address) as ada, viewing(served.address) as bob, viewing(served.address) as stranger:
        await come(ada, "ada")
        await come(bob, "bob")
        await come(stranger, None)
        (view,) = served.gateway.views()
        assert len(view.clients) == 3
