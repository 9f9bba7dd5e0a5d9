"""Policies tried on pages whose changes are known: real histories, and synthetic ones of several tempers."""
