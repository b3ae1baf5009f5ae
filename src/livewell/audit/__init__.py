"""Audit: what was done, by whom, to what and why; append-only, and chained so that tampering shows.

The room owns `audit_entry` and `audit_seal`. Other rooms write with `audit_write`, inside the transaction of what they
record, a batch per call. The sealer puts what has been committed since its last round under one more seal: a SHA-256
over the entries and the seal before. Writers take no lock that another writer or the sealer wants.

Invariants. Neither table is ever updated, deleted from or truncated, not even by its owner. Every committed entry is
sealed exactly once: an id that is not there yet when its neighbours are sealed stays open, and is sealed when its
transaction commits, or dropped when everyone who could own it has ended. One sealer works at a time, enforced by a
lock that ends with its transaction. Nothing that is hashed depends on a session's settings; an export is hashed as it
stands and can be verified without the database.

How it fails. A batch that is not one is `audit.invalid_entry`, and none of it is written. A change to what is written
is `audit.append_only`. A sealer killed halfway leaves nothing behind; the next round seals the same entries. Whoever
switches the triggers off and alters rows is found by verification: an edit, a deletion, a reordering, an insertion and
an altered seal by the chain itself, a tail cut off together with its seals by a head kept elsewhere. What is not sealed
yet is not protected yet; verification says how much that is.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.audit.errors import AppendOnly, InvalidEntry, UnknownHead
    from livewell.audit.export import Exporter, verify_export
    from livewell.audit.sealer import Sealer, tell_sealed
    from livewell.audit.store import AuditStore
    from livewell.audit.types import (
        BEGINNING,
        AuditState,
        Entry,
        EntryFilter,
        Finding,
        Head,
        NewEntry,
        NothingToSeal,
        Problem,
        Progress,
        Sealed,
        SealerBusy,
        SealOutcome,
        Verification,
    )
    from livewell.audit.verifier import Verifier
else:
    __getattr__ = opened(__name__)

__all__ = [
    "BEGINNING",
    "AppendOnly",
    "AuditState",
    "AuditStore",
    "Entry",
    "EntryFilter",
    "Exporter",
    "Finding",
    "Head",
    "InvalidEntry",
    "NewEntry",
    "NothingToSeal",
    "Problem",
    "Progress",
    "SealOutcome",
    "Sealed",
    "Sealer",
    "SealerBusy",
    "UnknownHead",
    "Verification",
    "Verifier",
    "tell_sealed",
    "verify_export",
]
