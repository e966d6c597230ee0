"""Makes one daemon of the packages: wiring, configuration, command line, HTTP API and pages.

Nouns: `Config`, `DataDir`, `Service`, `WebServer`, `NodeCore`. Read `config/settings.py` and `service/service.py` (what
HTTP and the commands see of a node) first, then `app/wiring.py` and `app/node_core.py`. The other rooms are adapters
(crawling, delegation, joining, jobs, sites), the desks of owners and publishers (owner, strategy), faces (web, cli,
views) and what the core does not need (extras).
This file imports nothing, so that the command line starts without loading what a verb does not need.
"""
