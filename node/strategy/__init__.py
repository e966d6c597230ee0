"""How do publishers begin a network and change its rules?

A draft is the next strategy before anybody has signed it; a preview counts what it would move. Read draft, preview,
signing, then founding.
"""
