"""Where workers call, and what they read on their machines: nothing new gets round the owner unnoticed."""

import re

import pytest

from livewell.kernel import Database
from tests.house.project import place, python_files, sql_functions

# What a service may tune of a provider and a key. A new column is put here, or into require_owner_for_calls.
TUNED = {
    "provider": {
        *("name", "state", "description", "quota_bytes", "quota_window", "quota_use", "pace", "pace_bucket", "policy"),
        *("created_at", "updated_at"),
    },
    "api_key": {
        *("provider", "name", "scope", "enabled", "granted", "requests_per_minute", "requests_per_hour"),
        *("tokens_per_minute", "tokens_per_hour", "concurrent", "created_at", "updated_at"),
    },
}
# Who writes each table that says where workers call; what counts the use of a key writes only that.
WRITERS = {
    "provider": set[str](),
    "api_key": {"spend_budgets"},
    "data_type": {"remove_type"},
}
# The engine writes the table it is given: these give it one, and those describe the tables that say where workers call.
DECLARING = {"change_budgets", "change_types", "put_issuer", "put_kind", "put_presence_source", "put_task"}
DESCRIBING = {"provider": "change_budgets", "api_key": "change_budgets", "data_type": "declared_type"}


@pytest.mark.parametrize(("table", "thing"), [("provider", "provider"), ("api_key", "key")])
async def test_every_column_is_the_owners_or_said_to_be_tuned(owner: Database, table: str, thing: str) -> None:
    """A column of providers or keys that nobody decided about fails here, before a service login finds it."""
    columns = await owner.fetch(
        "select attname from pg_attribute"
        " where attrelid = ('livewell_private.' || $1)::regclass and attnum > 0 and not attisdropped",
        table,
    )
    (guard,) = (function for function in sql_functions() if function.name == "require_owner_for_calls")
    guarded = {
        name
        for listed in re.findall(rf"c\.thing = '{thing}' and f\.field in \(([^)]*)\)", guard.text)
        for name in re.findall(r"'(\w+)'", listed)
    }
    assert guarded
    assert {row["attname"] for row in columns} == TUNED[table] | guarded
    assert not TUNED[table] & guarded


@pytest.mark.parametrize("table", WRITERS)
def test_what_says_where_workers_call_is_written_in_one_place(table: str) -> None:
    """No other function writes these tables, so that no other needs to ask who calls."""
    writes = re.compile(
        rf"\b(insert\s+into|update|delete\s+from|merge\s+into)\s+livewell_private\.{table}\b", re.IGNORECASE
    )
    writing = {function.name for function in sql_functions() if writes.search(function.statement)}
    assert writing <= WRITERS[table]


def test_the_owner_is_asked_before_it_is_written() -> None:
    """Providers and keys are put by the one function that asks first; types by none that others may call."""
    by_name = {function.name: function for function in sql_functions()}
    assert {name for name, function in by_name.items() if "write_declared" in function.calls} == DECLARING
    for table, describing in DESCRIBING.items():
        describes = re.compile(rf"describe_thing\([^)]*'livewell_private\.{table}'")
        assert [name for name, function in by_name.items() if describes.search(function.statement)] == [describing]
    assert {name for name, function in by_name.items() if "declared_type" in function.calls} == {
        "change_types",
        "types_as_asked",
    }
    body = by_name["change_budgets"].statement
    assert body.index("require_owner_for_calls") < body.index("write_declared")
    reaching = {"change_types", "remove_type"}
    while more := {name for name, function in by_name.items() if function.calls & reaching} - reaching:
        reaching |= more
    assert [name for name in sorted(reaching) if by_name[name].audience not in ({"internal"}, {"owner"})] == []


def test_a_schema_is_never_looked_up_elsewhere() -> None:
    """A JSON Schema can refer to files and addresses: every validator is made to stay with what it was given."""
    careless = [
        place(path)
        for path in python_files("src")
        if re.search(r"validator_for\((?![^\n]*offline=True)", path.read_text(encoding="utf-8"))
    ]
    assert careless == []
