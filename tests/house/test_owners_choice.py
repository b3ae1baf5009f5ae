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
# The one way to each table that says where workers call; what counts the use of a key writes only that.
WRITERS = {
    "provider": {"put_providers"},
    "api_key": {"put_api_keys", "spend_budgets"},
    "data_type": {"put_types", "remove_type"},
}
CALLERS = {"put_providers": {"change_budgets"}, "put_api_keys": {"change_budgets"}, "put_types": {"change_types"}}


@pytest.mark.parametrize("table", TUNED)
async def test_every_column_is_the_owners_or_said_to_be_tuned(owner: Database, table: str) -> None:
    """A column of providers or keys that nobody decided about fails here, before a service login finds it."""
    columns = await owner.fetch(
        "select attname from pg_attribute"
        " where attrelid = ('livewell.' || $1)::regclass and attnum > 0 and not attisdropped",
        table,
    )
    (guard,) = (function for function in sql_functions() if function.name == "require_owner_for_calls")
    guarded = {name for name in (row["attname"] for row in columns) if re.search(rf"n\.{name} is distinct", guard.text)}
    assert {row["attname"] for row in columns} == TUNED[table] | guarded
    assert not TUNED[table] & guarded


@pytest.mark.parametrize("table", WRITERS)
def test_what_says_where_workers_call_is_written_in_one_place(table: str) -> None:
    """No other function writes these tables, so that no other needs to ask who calls."""
    writes = re.compile(rf"\b(insert\s+into|update|delete\s+from|merge\s+into)\s+livewell\.{table}\b", re.IGNORECASE)
    writing = {function.name for function in sql_functions() if writes.search(function.statement)}
    assert writing <= WRITERS[table]


def test_the_owner_is_asked_before_it_is_written() -> None:
    """Providers and keys are put by the one function that asks first; types by none that others may call."""
    by_name = {function.name: function for function in sql_functions()}
    for written, callers in CALLERS.items():
        assert {name for name, function in by_name.items() if written in function.calls} == callers
    body = by_name["change_budgets"].statement
    assert body.index("require_owner_for_calls") < body.index("put_providers")
    reaching = {"put_types", "remove_type"}
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
