"""`keys.only_known`: declared, planned, shown, and obeyed by everything that makes an item."""

import pytest

from livewell.kernel import Database
from livewell.registry import RegistryStore, TypeDeclaration, UnknownKey, type_fields
from livewell.registry.tests.surface import NOON, Registry
from livewell.testing import make_type


async def test_it_is_declared_planned_and_shown(registry: Registry, owner: Database) -> None:
    """What `livewell.toml` says is planned, made, and shown of the type; false is the default, and comes back."""
    await make_type(owner, "quote")
    declared = {"quote": type_fields(TypeDeclaration.model_validate({"keys": {"only_known": True}}))}
    planned = [("quote", "change", "keys_only_known", "false", "true")]
    assert await registry.apply(declared, plan_only=True) == planned
    assert await registry.apply(declared) == planned
    (shown,) = await RegistryStore(owner).list_types(["quote"])
    assert shown.keys_only_known
    await registry.put("quote", keys_only_known=None)
    (shown,) = await RegistryStore(owner).list_types(["quote"])
    assert not shown.keys_only_known


async def test_a_batch_is_refused_as_a_whole(registry: Registry, owner: Database) -> None:
    """One unknown key of one of several types refuses all of them; types that take any key take it still."""
    await make_type(owner, "quote", keys_only_known=True)
    await make_type(owner, "note")
    await registry.import_keys("quote", ["A", "B"])
    await owner.execute("select livewell.set_keys_active('quote', '{B}', false)")
    made = "select count(*) from livewell_private.make_items($1, $2, $3)"
    assert await owner.fetchval(made, ["quote", "quote", "note"], ["A", "B", "Z"], NOON) == 3
    with pytest.raises(UnknownKey, match='"Z" is not in the catalogue of type quote') as refused:
        await owner.fetchval(made, ["note", "quote", "quote"], ["Y", "A", "Z"], NOON)
    assert "livewell keys list quote" in (refused.value.fix or "")
    assert await owner.fetchval("select count(*) from livewell_private.item") == 3


async def test_a_source_that_names_unknown_keys_goes_on(registry: Registry, owner: Database) -> None:
    """Rows of a presence source with keys that are not known are left out and counted; the others are taken."""
    await make_type(owner, "quote", keys_only_known=True)
    await registry.import_keys("quote", ["A"])
    await owner.execute("create table public.looking (user_id text, data_type text, key text)")
    await owner.execute("grant select on public.looking to livewell_reader")
    await owner.execute(
        "insert into public.looking values ('u', 'quote', 'A'), ('u', 'quote', 'Z'), ('v', 'quote', 'Y')"
    )
    found = await owner.fetchrow("select * from livewell_private.read_presence_source('public.looking')")
    assert tuple(found or ()) == (["u"], ["quote"], ["A"], 3, 2)
