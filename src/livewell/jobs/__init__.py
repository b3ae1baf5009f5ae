"""The queue: enqueue, claim, heartbeat, finish, rescue, history.

The room owns kinds and lanes, the table `job`, attempts, and the list of workers. `job` is partitioned by state: one
live partition (pending, processing) that stays small, dated partitions for what is finished, a default partition with
an alert. Completed jobs of kinds that are `kept_briefly` lie apart, by half hours: what drops them holds up nobody
else. Every decision is one SQL function (`sql/functions`), atomic and set-based; `JobStore` only calls them.

Invariants. A job has at most one lease, and only its token ends the attempt: at most one accepted completion
per attempt. At most one live job per dedupe key; at most one running job per serial key. A kind's concurrency is
never exceeded. Terminal states never change, except `failed` by a person's retry. Every ended attempt is on record:
as a row of `job_attempt` when another followed, as the finished job itself when it was the last. What is paused,
scheduled for later or behind a busy serial key is outside the ready order and costs a claim nothing. Dead letters are
dropped only after somebody has acknowledged them.

Locking. Claim and rescue and heartbeat pass over locked rows; finish and cancel wait, in order of id. A cap is
counted in a statement after the one that takes its lock. Rows leave the live partition by DELETE and INSERT, never by
an update of the partition key.

How it fails. Bad requests are refused whole, with a fact (`errors.py`). A worker that dies loses its lease, and the
task `rescue` gives the job to another; one that comes back late is told `lost`. A wake-up that is lost is made good by
polling, a promotion that is lost by `rescue`. When the partition of its time is missing, a finished job goes to the
default one.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.jobs.errors import (
        EmptyPayload,
        EnqueueDisabled,
        InvalidJob,
        InvalidKind,
        InvalidPayload,
        JobError,
        JobTooLarge,
        UnknownJob,
        UnknownKind,
        UnknownKindField,
    )
    from livewell.jobs.kind_section import KindSection
    from livewell.jobs.metrics import (
        CLAIM_SECONDS,
        FINISH_SECONDS,
        HEARTBEAT_SECONDS,
        JOBS_CLAIMED,
        JOBS_FINISHED,
        JOBS_SET_ASIDE,
        LEASES_LOST,
        RUN_TIMES,
        QueueGauges,
        count_enqueued,
    )
    from livewell.jobs.partition_care import Care, care, make_partitions, tell_partitions, tell_retention
    from livewell.jobs.payloads import PayloadChecker
    from livewell.jobs.rescuing import rescue, tell_rescued
    from livewell.jobs.store import JobStore
    from livewell.jobs.types import (
        NOTHING,
        Beat,
        Cancel,
        Changed,
        ClaimedJob,
        Completed,
        Dead,
        Enqueued,
        Failed,
        Finish,
        JobCount,
        JobId,
        JobRequest,
        JsonObject,
        Kind,
        KindDeclaration,
        OnDuplicate,
        Outcome,
        Reschedule,
        Rescued,
        Reset,
        Spent,
        Throttled,
    )
else:
    __getattr__ = opened(__name__)

JOBS_CHANNEL = "livewell_jobs"
CANCEL_CHANNEL = "livewell_cancel"

__all__ = [
    "CANCEL_CHANNEL",
    "CLAIM_SECONDS",
    "FINISH_SECONDS",
    "HEARTBEAT_SECONDS",
    "JOBS_CHANNEL",
    "JOBS_CLAIMED",
    "JOBS_FINISHED",
    "JOBS_SET_ASIDE",
    "LEASES_LOST",
    "NOTHING",
    "RUN_TIMES",
    "Beat",
    "Cancel",
    "Care",
    "Changed",
    "ClaimedJob",
    "Completed",
    "Dead",
    "EmptyPayload",
    "EnqueueDisabled",
    "Enqueued",
    "Failed",
    "Finish",
    "InvalidJob",
    "InvalidKind",
    "InvalidPayload",
    "JobCount",
    "JobError",
    "JobId",
    "JobRequest",
    "JobStore",
    "JobTooLarge",
    "JsonObject",
    "Kind",
    "KindDeclaration",
    "KindSection",
    "OnDuplicate",
    "Outcome",
    "PayloadChecker",
    "QueueGauges",
    "Reschedule",
    "Rescued",
    "Reset",
    "Spent",
    "Throttled",
    "UnknownJob",
    "UnknownKind",
    "UnknownKindField",
    "care",
    "count_enqueued",
    "make_partitions",
    "rescue",
    "tell_partitions",
    "tell_rescued",
    "tell_retention",
]
