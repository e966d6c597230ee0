"""How does a running node answer people and programs?

`service.py` names all that may be asked; `node_service.py` answers for this process, and the tests have a fake. The web
listener knows nothing else of a node. Read service, node_service, then node_status.
"""
