"""What does a command line mean?

The argument parser; one module a verb family in commands. Read main first.
"""
