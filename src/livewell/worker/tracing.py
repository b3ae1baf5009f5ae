"""OpenTelemetry, where it is installed (extra `otel`): the context travels with the job, each attempt is a span."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic_core import from_json

from livewell.jobs import ClaimedJob, JsonObject

try:
    from opentelemetry import context as otel_context
    from opentelemetry import propagate, trace
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True


def carried_context() -> JsonObject | None:
    """The caller's trace context, to be kept with a job; None outside a trace."""
    if not INSTALLED or not otel_context.get_current():
        return None
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier or None


def is_on() -> bool:
    """Whether spans go anywhere: the package is installed and a provider was set."""
    return INSTALLED and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextmanager
def attempt_span(job: ClaimedJob) -> Iterator[None]:
    """The span of one attempt, below the span that queued the job."""
    carrier = from_json(job.trace_context) if job.trace_context else {}
    token = otel_context.attach(propagate.extract(carrier))
    attributes: dict[str, str | int] = {
        "messaging.system": "livewell",
        "messaging.destination.name": job.kind,
        "messaging.message.id": str(job.job_id),
        "livewell.attempt": job.attempt,
    }
    try:
        with trace.get_tracer("livewell").start_as_current_span(
            f"{job.kind} process", kind=trace.SpanKind.CONSUMER, attributes=attributes
        ):
            yield
    finally:
        otel_context.detach(token)
