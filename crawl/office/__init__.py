"""What do documents of word processors, spreadsheets, presentations and e-books say?

Bytes become a ParseResult within bounds. Pure. Read extract_office, package, then one reader: open_xml, workbook,
open_document, epub, rich_text.
"""
