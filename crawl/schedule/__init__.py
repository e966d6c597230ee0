"""What is known of a URL, and when is it due again?

Pure. Read url_state, then revisit_policy.
"""
