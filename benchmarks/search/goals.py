"""Holds the figures to reach."""

# nDCG@10 of the same words joined by OR, before words were wished: the ruler of what typing may cost.
OR_NDCG = {"cran": 0.394, "med": 0.715, "cacm": 0.456, "npl": 0.440}
TYPED_GAIN = 0.015  # the mean of these sets is to stand so much above that of OR_NDCG
TYPED_LOSS = 0.015  # and none of them more below its own
TYPED_MEAN = round(sum(OR_NDCG.values()) / len(OR_NDCG) + TYPED_GAIN, 4)
UNANSWERED = 0.01  # of the queries of these sets
BETTER_BASELINES = 0  # pairs of a set and a baseline that is significantly better
SIGNIFICANCE = 0.05  # of all such pairs together, after Holm
CMRC_HIT1 = 0.97
KNOWN_MRR = {"title": 0.97, "heading": 0.94, "anchor": 0.90, "body": 0.89}
KNOWN_MEAN = 0.93  # of these four, its interval above tantivy's best
OTHER_LANGUAGE_FIRST = 4 / 235  # of English queries, where an English page is nearly as good
SITE_NAMES_MRR = 0.8
SITE_NAMES_FIRST = 0.97
DOMAINS_FIRST = 1.0
OTHER_SCRIPT_LOSS = 0.03  # of hit@1 in the script of the texts
JOINED_UNANSWERED = 0.02  # of pairs of Chinese words
CORRECTED_RIGHT = 0.93  # of misspelled words of five letters or more
CORRECTED_WRONGLY = 0.01  # of right queries, rare names included
MISSPELLED_MRR = 0.95  # of known items with one slip, of the MRR of the same without it
CORRECTED_ITEMS = 0.005  # of known items without one
CODE_IN_THREE = 0.9  # of names and paths that one page writes: 54 of 60
SPLIT_IN_TEN = 0.95  # of words that are split or joined otherwise than pages write them
FORMS_MET = 0.90  # of pairs of forms of a word, over all languages
FORMS_MET_LANGUAGE = 0.75  # of each language
IRREGULAR_MET = 0.80  # of irregular English pairs
FOLDED_RIGHT = 0.95  # of near-duplicate pages
FOLDED_WRONGLY = 0.01
SPAM_LOSS = {  # of the MRR of the pages that are meant, beside so much spam
    "stuffed by one owner": 0.025,
    "stuffed by thirty domains": 0.075,
    "light": 0.055,
    "copies": 0.015,
    "doorways by script": 0.055,
    "hidden text": 0.015,
}
SMALL_LOSS = 0.02  # of that of known items on sites that nobody links to, without spam
DEFINED_SHOWN = round(40 / 60, 3)  # of questions that a page answers
DEFINED_WRONGLY = round(1 / 60, 3)
FOLDED_APART = 0.02  # of pairs that differ in a number or a word that is asked
