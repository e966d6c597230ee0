"""The verbs of the command line, a module for each family; `node/cli/main.py` imports only the one that is asked for.

Every verb is a function from its arguments to an exit code. What goes wrong is raised, and told by `node/cli/main.py`.
"""
