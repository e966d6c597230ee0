"""How are stored pages read in bulk, and brought in from outside? A capture stands for one version of a page.

Nouns: `Capture`, `Wish` (which pages are read), `NetworkReader`. Read capture, scope, network_reader, imported_page.
"""
