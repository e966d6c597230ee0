"""What may be asked over HTTP, and how is it read? Routes, parameters, forms, problems, the OpenAPI document.

Nouns: `HttpRoute`, `Parameter`, `Values`, `Problem`, `Api`. Read routes (the one table), parameters, problems, api.
"""
