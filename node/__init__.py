"""Makes one daemon of the packages: wiring, configuration, command line, HTTP API and pages.

Nouns: `Config`, `DataDir`, `Service`, `WebServer`, `Node`. Read config, datadir, service (what HTTP and the commands
see of a node); then web/routes and web/server, cli and commands/; then ingest, feed and what wires them.
This file imports nothing, so that the command line starts without loading what a verb does not need.
"""
