"""What is a node as a process?

Sockets, files and parser processes around the services of `node/app`, until it is told to stop.
"""
