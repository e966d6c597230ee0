"""What is a node as a process?

Sockets, files and parser processes around `node/app` and `node/service`, until it is told to stop.
"""
