"""How do bytes of records lie in files?

Nouns: `Segment`, `Disk`. Read file_system, segments, record_group; dictionary_training makes dictionaries that compress
small records.
"""
