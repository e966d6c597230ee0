"""How do the holders of all slots compute the ranks of all pages and hosts together?

Read messages (what they tell each other), slot_links, host_links, redirects and link_follower (what links a holder
knows), host_ranking (the ranks of all hosts), held_ranks (the slots that a node computes), rank_statements (what all
say of theirs: limits, and the proof), peer_news (who was told what) and rank_talk, then rank_keeper, which runs it all.
The computation itself is in `index/rank/`.
"""
