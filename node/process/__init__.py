"""How does a node run as a process?

Sockets, files and parser processes around `node/app` and `node/service`, until it is told to stop.
"""
