"""Defines the records that are kept, and how they are signed.

Records, documents, packages, Merkle proofs, range reconciliation. Pure. Read record, then package.
"""
