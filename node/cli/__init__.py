"""What does a command line mean?

The verbs with their options, and in commands a module for each family of verbs. Read arguments first, then main.
"""
