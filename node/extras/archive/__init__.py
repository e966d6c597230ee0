"""How do archives and theses exchange pages with the network? By WARC, WACZ, CDXJ, JSON, SPF and Parquet.

Everything goes through `node/captures/capture.py`: each format has a module that writes captures to a stream and reads
them from one, whatever that stream holds. `routes.py` and `verbs.py` say what is added to a node.
"""
