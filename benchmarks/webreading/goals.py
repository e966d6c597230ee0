"""Holds the figures to reach."""

F1_BELOW_TRAFILATURA = 0.01  # F1 by words may be so much below
CPU_OF_TRAFILATURA = 0.2
TITLES_RIGHT = 0.98
DATES_RIGHT = 0.9  # of pages whose truth has a date
LANGUAGES_RIGHT = 0.97  # mean of the languages
