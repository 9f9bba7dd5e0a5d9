"""Telling people what changed: which versions are worth it, as an Atom feed, a digest or the body of a webhook.

Everything here is a function of versions; who reads the store and when is the business of the wiring.
"""
