"""How many clients run on each machine: a pure function of what each machine is worth."""

from collections.abc import Mapping


def placed(weights: Mapping[str, float], wanted: int) -> dict[str, int]:
    """Divides clients among machines by their weights, with the largest remainders first and names
    as the last word."""
    total = sum(weights.values())
    if not total or wanted <= 0:
        return dict.fromkeys(weights, 0)
    shares = {name: wanted * weight / total for name, weight in weights.items()}
    found = {name: int(share) for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: (found[name] - shares[name], name))
    for name in by_remainder[: wanted - sum(found.values())]:
        found[name] += 1
    return found
