"""How are the steps of a query shown elsewhere? Makes spans of a share of all queries and sends them by OTLP.

Nouns: `QueryTracer`, `TraceExport`. Read query_tracer, trace_export.
"""
