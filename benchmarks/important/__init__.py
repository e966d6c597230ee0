"""Measures how early a polite crawl fetches important pages, by the order in which it fetches."""
