"""Measures the shape of the web that a network keeps: degrees, parts, distances, hubs, communities; needs the extra
`web-report`.

Read `web_graph.py` first, then the measures, each of which takes a graph; `report.py` puts them together, and
`html_page.py` shows them. Nothing here reads a network: `node/extras/web_report/verb.py` does.
"""
