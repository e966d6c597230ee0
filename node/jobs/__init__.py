"""How are pages and addresses handed in, and how does one follow them?

Submission, progress, explanation. Read submission first, then job_progress and explain.
"""
