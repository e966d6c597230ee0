"""How are the steps of a query shown elsewhere? Sends each traced query to a collector by OTLP.

Noun: `TraceExport`. Read trace_export.
"""
