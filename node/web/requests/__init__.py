"""Reads HTTP requests: routes, parameters, forms, problems, the OpenAPI document.

Nouns: `HttpRoute`, `Parameter`, `Values`, `Problem`, `Api`. Read routes (the one table), parameters, problems, api.
"""
