"""Answers, from one node's index, for the slots that it is asked about.

Read local_index, then question_server and shard_search; messages are what an asker sends and gets.
"""
