"""Which documents hold a query's terms here?

Candidate engines (tantivy, whoosh, memory) and the index files. Read protocol first.
"""
