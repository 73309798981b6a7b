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
