"""What became of what people handed in?

Submission, progress, explanation. Read submission first.
"""
