"""How does a node treat a packet? The sans-I/O protocol engine and its one UDP driver. Read engine first."""
