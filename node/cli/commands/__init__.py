"""How does each verb act? A module for each family of verbs; `node/cli/main.py` imports only the one that is asked for.

Every verb is a function from its arguments to an exit code. Errors are raised, and `node/cli/main.py` prints them.
"""
