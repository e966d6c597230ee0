"""What became of what people handed in?

Submission, progress, explanation. Read submission first, then job_progress and explain.
"""
