"""Measures how pages are read: main text, titles, dates, languages; by others' truth, beside kept libraries."""
