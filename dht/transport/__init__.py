"""How are peers asked?

Request and response over TLS, directly or by a relay. Read transport, then tls_client and tls_server.
"""
