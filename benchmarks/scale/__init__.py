"""Measures what a network of any size costs: which slots a query has to ask, by real pages, and a model for a thousand
to a million nodes that is checked against what is simulated.
"""
