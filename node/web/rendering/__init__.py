"""How does a page come to be HTML in a reader's language? Templates, texts, charts, pages kept for a while.

Nouns: `Pages`, `Translate`, `RenderedPages`. Read pages, translations.
"""
