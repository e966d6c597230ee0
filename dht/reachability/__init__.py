"""Can strangers reach this node, and which role follows? Dial-back as in AutoNAT. Read evidence, then node_role."""
