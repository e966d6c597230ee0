"""How are peers asked?

Requests and answers over TLS, directly or by a relay. Read transport, then request_auth, tls_client and tls_server.
"""
