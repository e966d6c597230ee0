"""How does a node's owner follow and steer it?

Figures of a day, jobs, log lines, settings and the map of the network are values here. `node/owner/desk.py` fills them,
`node/web/owner/owner_pages.py` shows them; needs, events, hook and watch tell the owner of trouble. Read desk, then
needs.
"""
