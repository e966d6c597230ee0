"""Many nodes in one process under virtual time: the same cores and handlers as in a real node, reproducible by seed.

Nouns: `World`, `SimNode`, `SimLoop`, `SimNetwork`, `ScriptedWeb`. Read loop, network, carrier, dial_back (the ground);
scripted_web, scripted_fetch, sim_node, world (whole nodes and what befalls them); census (what is so, from outside);
conditions and trial (the standard scenario and its figures, run by the verb `simulate`). By themselves: delays, swarm,
forming (bare engines by the thousand), lookup_trial and observations (what they are judged by), swarm_trial (their
scenario).
"""
