#!/usr/bin/env python3
"""Exports spans and log records with OpenTelemetry's own library: otlp.py http|grpc ADDRESS. Exits 77 where that is not installed."""

import logging
import sys

try:
    from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanKind, Status, StatusCode

    if sys.argv[1] == "http":
        from opentelemetry.exporter.otlp.proto.http import Compression
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    else:
        from grpc import Compression
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
except ImportError as error:
    print(error)
    sys.exit(77)

protocol, address = sys.argv[1:3]
resource = Resource.create({"service.name": "shop", "host.name": "h1"})
gzip = {"compression": Compression.Gzip}
if protocol == "http":
    spans = [OTLPSpanExporter(f"http://{address}/v1/traces"), OTLPSpanExporter(f"http://{address}/v1/traces", **gzip)]
    logs = OTLPLogExporter(f"http://{address}/v1/logs")
else:
    spans = [OTLPSpanExporter(address, insecure=True), OTLPSpanExporter(address, insecure=True, **gzip)]
    logs = OTLPLogExporter(address, insecure=True)

# Once as it is, once packed.
for round, exporter in enumerate(spans):
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span(f"outer-{round}", kind=SpanKind.SERVER) as outer:
        outer.set_attribute("http.request.method", "GET")
        outer.set_attribute("http.status", 503)
        outer.set_attribute("sizes", [1, 2])
        with tracer.start_as_current_span("inner") as inner:
            inner.add_event("cache miss", {"key": "k\u00e4se", "ratio": 0.25, "cold": True})
        outer.set_status(Status(StatusCode.ERROR, "it was \"late\""))
    assert provider.force_flush(10_000), "spans could not be exported"
    provider.shutdown()

provider = LoggerProvider(resource=resource)
provider.add_log_record_processor(BatchLogRecordProcessor(logs))
logger = logging.getLogger("test")
logger.addHandler(LoggingHandler(logger_provider=provider))
logger.warning("disk is %d%% full", 93)
assert provider.force_flush(10_000), "records could not be exported"
provider.shutdown()
