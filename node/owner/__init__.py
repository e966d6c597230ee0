"""What does a node's owner see of it over time, and what does the owner say to single hosts?

Figures of a day, jobs, log lines, settings and the map of the network are values here; `node/app/owner_desk.py` fills
them, `node/web/owner/owner_pages.py` shows them. Read figure_history, host_control, network_map.
"""
