"""Reads documents of office programs, and books.

Bytes become a ParseResult within bounds. Pure. Read extract_office, package, then one reader: open_xml, workbook,
open_document, epub or rich_text.
"""
