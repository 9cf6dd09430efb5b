"""Distributed traces: spans of OpenTelemetry, Jaeger and Zipkin, as JSON."""
