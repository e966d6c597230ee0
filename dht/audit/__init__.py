"""The audit: nobody's word is believed, and a sample of everybody's is checked.

Five nouns: *sample*, *check*, *penalty*, *second look*, *evidence*. Read first these pure files: `sampling.py` (which
answers and pages are checked), `peer_audit.py` (how long a refuted peer is avoided) and `evidence.py` (records of pages
that differ from their sites). `peer_audit.py` joins the first two, and `check_queue.py` runs all checks of a node in
one task. Each check itself stays in the package whose answers it doubts. `index/asking` checks statistics and hits,
`store/reading` records, and `store/repair` possession. `node/delegation` checks pages of clients, and `node/audit`
pages of authors.
"""
