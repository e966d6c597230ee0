"""What do the publishers say?

The signed strategy document: form, validity, history, rules. Pure but for its file. Read document first.
"""
