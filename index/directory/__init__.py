"""Which slots can hold one of the best documents of a query, told by a few rows and not by asking all of them?

Pure: values and bytes. Read impact, then term_row; slot_bounds says what the documents of each slot may score, and
slot_choice whom to ask first, whom next, and whether the answer is proven. How rows come about: own_impacts is what a
node's documents say of their terms, impact_news tells it, row_keeper keeps what all owners told, row_page is a row's
way over the line, and known_row what an asker makes of several keepers' answers.
"""
