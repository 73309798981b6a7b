"""Handlers that monitor live."""

import logging

import pytest

import tracewise as tw
from tracewise.recording import Handler, SpanProcessor


def test_logging_handler(caplog):
    log = logging.getLogger("orders")
    log.setLevel(logging.INFO)
    told = []
    handler = Handler("G (refund -> O pay)", by="user", on_violation=told.append)
    log.addHandler(handler)
    try:
        log.info("paid", extra={"event": "pay", "user": "u1"})
        log.info("refund", extra={"event": "refund", "user": "u1"})
        log.info("refund", extra={"event": "refund", "user": "u2"})
    finally:
        log.removeHandler(handler)
    (found,) = told
    assert found.bindings == {"user": "u2"} and found.position == 2


def test_violations_are_logged():
    log = logging.getLogger("levels")
    log.setLevel(logging.INFO)
    handler = Handler('G !(level == "ERROR")')
    log.addHandler(handler)
    seen = []

    class Sink(logging.Handler):
        def emit(self, record):
            seen.append(record.getMessage())

    sink = Sink()
    logging.getLogger("tracewise").addHandler(sink)
    try:
        log.info("fine")
        log.error("not fine")
    finally:
        log.removeHandler(handler)
        logging.getLogger("tracewise").removeHandler(sink)
    assert len(seen) == 1 and "violated at position 1" in seen[0]


def test_spans():
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider

    spec = tw.Spec('property nested : G (span_start(name: "query") -> (!span_end(name: "request") S span_start(name: "request")));')
    processor = SpanProcessor(spec)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("request"):
        with tracer.start_as_current_span("query"):
            pass
    assert processor.violations == []
    with tracer.start_as_current_span("query"):
        pass
    (found,) = processor.violations
    assert found.property == "nested"


def test_what_cannot_be_judged_does_not_end_the_program(caplog):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider

    processor = SpanProcessor("G (attributes.size < 5)")
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("test")
    with caplog.at_level(logging.ERROR, logger="tracewise"):
        with tracer.start_as_current_span("small", attributes={"size": 3}):
            pass
        with tracer.start_as_current_span("odd", attributes={"size": "many"}):
            pass
        with tracer.start_as_current_span("large", attributes={"size": 9}):
            pass
    assert any("could not be judged" in record.message for record in caplog.records)
    provider.shutdown()


def test_spans_of_threads():
    pytest.importorskip("opentelemetry.sdk")
    import threading

    from opentelemetry.sdk.trace import TracerProvider

    spec = tw.Spec("property ended : G forall s. span_end(span_id: s) -> O span_start(span_id: s);")
    processor = SpanProcessor(spec)
    provider = TracerProvider()
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("test")

    def work():
        for _ in range(50):
            with tracer.start_as_current_span("work"):
                with tracer.start_as_current_span("inner"):
                    pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert processor.violations == [] and processor.monitor.positions == 4 * 50 * 4
