"""The audit: nobody's word is believed, and a sample of everybody's is checked.

Five nouns: *sample*, *check*, *penalty*, *second look*, *evidence*. Read `sampling.py` (which answers and pages are
checked), `peer_audit.py` (how long a refuted peer is avoided) and `evidence.py` (what a node keeps of pages that differ
from their sites) first: these are pure. `peer_audit.py` joins the first two, and `check_queue.py` runs all checks of a
node in one task. Each check itself stays in the package whose answers it doubts: statistics and hits in `index/asking`,
records and possession in `store/replication`, pages of clients and of authors in `node/delegation` and `node/audit`.
"""
