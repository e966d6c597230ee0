"""Serves searchers: the search page, its results in all forms, rules for sites, suggested sites.

Nouns: `SearchPage`, `SiteRules`, `Preferences`. Read search_page, results, site_rules.
"""
