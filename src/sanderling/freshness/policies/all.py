"""Every page once, those that have waited longest first. The command gives it no budget."""

from sanderling.freshness.choosing import ScoredPolicy, evenly, waited_longest

POLICY = ScoredPolicy(waited_longest, evenly)
