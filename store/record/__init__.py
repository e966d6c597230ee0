"""What is kept, and how is it signed?

Records, documents, packages, Merkle proofs, range reconciliation. Pure. Read record, then package.
"""
