"""What does a node do with a packet? The sans-I/O protocol engine and its one UDP driver. Read engine first."""
