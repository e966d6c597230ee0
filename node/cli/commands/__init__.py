"""What does each verb do? A module for each family of verbs; `node/cli/main.py` imports only the one that is asked for.

Every verb is a function from its arguments to an exit code. What goes wrong is raised, and told by `node/cli/main.py`.
"""
