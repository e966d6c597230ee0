"""What is kept, and how is it signed?

Records, documents, packages, Merkle proofs, range reconciliation and its short form. Pure. Read record, then package.
"""
