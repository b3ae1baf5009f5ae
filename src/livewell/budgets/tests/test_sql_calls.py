"""How calls are made is data: how long one may take, where it goes, how its key travels, and who may say so."""

import pytest

from livewell.budgets import InvalidBudget, OwnersChoice
from livewell.budgets.tests.declared import Declaring
from livewell.kernel import Database


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"key_in": "cookie"}, "key_in"),
        ({"base_url": "https://user:pass@acme.test"}, "base_url"),
        ({"base_url": "https://acme.test/v3?key=1"}, "base_url"),
        ({"base_url": "ftp://acme.test"}, "base_url"),
        ({"hosts": ["https://acme.test"]}, "hosts"),
        ({"hosts": ["a b"]}, "hosts"),
    ],
)
async def test_where_calls_go_is_checked_when_it_is_written(
    database: Database, fields: dict[str, object], said: str
) -> None:
    """A key travels somewhere, an address is plain, a host is a name."""
    with pytest.raises(InvalidBudget, match=f"acme: {said}"):
        await Declaring(database).apply({"acme": fields})


async def test_a_timeout_is_short(database: Database) -> None:
    """Above nothing and at most ten minutes; ten seconds when nobody says."""
    await Declaring(database).apply({"acme": {}}, {"acme/x": {}})
    found = "select extract(epoch from call_timeout)::int from livewell.endpoints where name = 'acme/x'"
    assert await database.fetchval(found) == 10
    for wrong in ("0 seconds", "11 minutes"):
        with pytest.raises(InvalidBudget, match="call_timeout"):
            await database.execute(
                "select livewell.set_endpoint('acme/x', $1::text::jsonb)", f'{{"call_timeout": "{wrong}"}}'
            )
    await database.execute("select livewell.set_endpoint('acme/x', '{\"call_timeout\": \"3 seconds\"}')")
    assert await database.fetchval(found) == 3


async def test_only_the_owner_opens_private_networks(database: Database, owner: Database) -> None:
    """A service login may neither say `allow_private` nor take it back or move a provider; the rest it may tune."""
    service, own = Declaring(database), Declaring(owner)
    with pytest.raises(OwnersChoice, match="allow_private is for the owner of the schema"):
        await service.apply({"sim": {"allow_private": True}})
    await own.apply({"sim": {"allow_private": True, "base_url": "http://127.0.0.1:8801"}})
    for change in ({"base_url": "http://10.0.0.1"}, {"hosts": ["10.0.0.2"]}, {"allow_private": False}):
        with pytest.raises(OwnersChoice, match="owner of the schema"):
            await service.apply({"sim": change})
    await service.apply({"sim": {"description": "the simulator", "allow_private": True}})


async def test_a_role_taken_on_is_the_one_that_asks(owner: Database) -> None:
    """The owner's login that acts as the service is the service."""
    with pytest.raises(OwnersChoice, match="owner of the schema"):
        await _open_as_service(owner)


async def _open_as_service(owner: Database) -> None:
    async with owner.transaction() as connection:
        await connection.execute("set local role livewell_service")
        await Declaring(connection).apply({"sim": {"allow_private": True}})
