"""Facts about jobs."""

from livewell.kernel import LivewellError


class JobError(LivewellError):
    """Something about a job or a kind."""

    code = "jobs.error"


class UnknownKind(JobError):
    """No kind of that name is declared."""

    code = "jobs.unknown_kind"
    sqlstate = "LWJ02"


class InvalidJob(JobError):
    """A request that makes no sense; nothing of its batch was done."""

    code = "jobs.invalid"
    sqlstate = "LWJ03"


class EnqueueDisabled(JobError):
    """New jobs are refused at the moment, by the setting `queue.enqueue_enabled`."""

    code = "jobs.enqueue_disabled"
    sqlstate = "LWJ04"


class EmptyPayload(JobError):
    """A payload must be a JSON object with at least one field."""

    code = "jobs.empty_payload"
    sqlstate = "LWJ05"


class JobTooLarge(InvalidJob):
    """A job, or what it leaves when it is finished, is larger than a setting allows; nothing of its batch was done."""

    code = "jobs.too_large"
    sqlstate = "LWJ07"


class InvalidKind(JobError):
    """A kind cannot be as asked."""

    code = "jobs.invalid_kind"
    sqlstate = "LWJ06"


class UnknownKindField(JobError):
    """A kind in `livewell.toml` has a field that such a thing does not have."""

    code = "jobs.unknown_field"


class InvalidPayload(JobError):
    """A payload does not fit the schema of its kind."""

    code = "jobs.invalid_payload"


class UnknownJob(JobError):
    """No job has that id; it may have been dropped by retention."""

    code = "jobs.unknown_job"
