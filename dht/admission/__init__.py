"""Who may be a member? Attested by others, invited by somebody, known for long enough.

Read member_admission, then attested_peers and inviters.
"""
