"""Every page equally often: the one that has waited longest comes first."""

from sanderling.freshness.choosing import ScoredPolicy, evenly, waited_longest

POLICY = ScoredPolicy(waited_longest, evenly)
