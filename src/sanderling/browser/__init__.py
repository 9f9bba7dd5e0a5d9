"""Renders pages that JavaScript makes, in a browser without a network: the client's own fetcher
makes its requests."""
