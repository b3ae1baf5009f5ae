"""A job's attempt is a span below the one that queued it."""

from collections.abc import Iterator

import pytest

from livewell import Livewell
from livewell.testing import lack
from livewell.worker.tests.running import running, until_state

try:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
except ImportError:
    lack("opentelemetry-sdk (extra otel)")


@pytest.fixture(scope="module")
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    yield exporter
    provider.shutdown()


async def test_attempt_is_a_span_of_the_trace_that_queued_it(database_url: str, spans: InMemorySpanExporter) -> None:
    """The trace context travels with the job: the attempt is a consumer span in the same trace, with the job's id."""
    app = Livewell(database_url)

    @app.job("traced")
    async def traced(job: dict[str, int]) -> None:
        trace.get_current_span().add_event("inside")

    async with app, running(app):
        with trace.get_tracer("test").start_as_current_span("request") as request:
            enqueued = await app.enqueue("traced", {"n": 1})
        await until_state(app, enqueued.job_id, "completed")

    (attempt,) = [span for span in spans.get_finished_spans() if span.name == "traced process"]
    assert attempt.context is not None
    assert attempt.context.trace_id == request.get_span_context().trace_id
    assert attempt.parent is not None
    assert attempt.parent.span_id == request.get_span_context().span_id
    assert attempt.attributes is not None
    assert attempt.attributes["messaging.message.id"] == str(enqueued.job_id)
    assert [event.name for event in attempt.events] == ["inside"]
