"""What is in the log stays as it is."""

import pytest

from livewell.audit import AppendOnly, AuditStore, NewEntry
from livewell.kernel import Database

CHANGES = [
    "update livewell_private.audit_entry set reason = 'another'",
    "update livewell_private.audit_entry set reason = 'another' where false",
    "delete from livewell_private.audit_entry",
    "truncate livewell_private.audit_entry",
    "update livewell_private.audit_seal set hash = previous_hash",
    "delete from livewell_private.audit_seal where number = 1",
    "truncate livewell_private.audit_seal",
    "truncate livewell_private.audit_entry, livewell_private.audit_seal cascade",
]


@pytest.mark.parametrize(
    "pretence", ["", "set local session_replication_role = replica;", "set local role livewell_owner;"]
)
async def test_nobody_changes_the_log(store: AuditStore, owner: Database, pretence: str) -> None:
    """Update, delete and truncate are refused to a superuser, to the owner, and to one who plays a replica."""
    await store.write_entries([NewEntry(event="kind_paused")])
    await store.seal_entries(10)
    for change in CHANGES:
        with pytest.raises(AppendOnly, match="append-only"):
            await owner.execute(f"begin; {pretence} {change}; commit")
        await owner.execute("rollback")
    state = await store.read_state()
    assert (state.head.number, state.sealed_entries) == (1, 1)
