"""How do the holders of all slots compute the ranks of all pages together?

Read messages (what they tell each other), slot_links and link_follower (what links a holder knows), held_ranks (the
slots that it computes), rank_statements (what all say of theirs: limits, and the proof), peer_news (who was told
what) and rank_talk, then rank_keeper, which runs it all. The computation itself is in `index/rank/`.
"""
