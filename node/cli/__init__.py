"""How is a command line read?

The verbs with their options, and in commands a module for each family of verbs. Read arguments first, then main.
"""
