"""Many nodes in one process under virtual time: the same cores and handlers as in a real node, reproducible by seed.

Nouns: `World`, `SimNode`, `SimLoop`, `SimNetwork`, `ScriptedWeb`. Read loop, network, carrier, dial_back (the ground);
then scripted_web, scripted_fetch, sim_node, world (whole nodes and their fates), census (a view from outside). The
verb `simulate` runs the standard scenario of conditions and trial. By themselves: delays, swarm,
forming (bare engines by the thousand), lookup_trial and observations (what they are judged by), swarm_trial (their
scenario).
"""
