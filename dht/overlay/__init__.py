"""How is it all one network? The running overlay, its public protocol and its assembly.

Read `api.py`, then `service.py`, then what it is built of: messenger, announcer, upkeeps.
"""
