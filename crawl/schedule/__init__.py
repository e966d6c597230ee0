"""Keeps what is known of a URL, and says when it is due again.

Pure. Read url_state, then revisit_policy.
"""
