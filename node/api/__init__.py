"""The bodies of the HTTP API by topic: what requests carry and what answers hold, from which OpenAPI is written."""
