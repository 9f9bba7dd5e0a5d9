"""How a delivery was answered, and how long to wait after a failure."""

from msgspec import Struct

SHORTEST_PAUSE = 2.0
LONGEST_PAUSE = 3600.0


class DeliveryAnswer(Struct, frozen=True, kw_only=True):
    """How an endpoint answered. The status is 0 if it did not answer."""

    status: int = 0
    error: str = ""
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def unwanted(self) -> bool:
        """The endpoint is gone for good."""
        return self.status == 410

    @property
    def complaint_or_none(self) -> str:
        """Empty if it was taken."""
        return "" if self.taken else self.complaint

    @property
    def complaint(self) -> str:
        if 300 <= self.status < 400:
            return f"it redirects ({self.status}); redirects are not followed, so set the new address"
        return self.error or f"it answered {self.status}"


def pause(failures: int, retry_after: float, chance: float) -> float:
    """Seconds to wait after this many failures in a row.

    The wait doubles each time. `chance` spreads the tries of many webhooks over time.
    """
    doubled = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures - 1, 20))
    return max(doubled * (0.5 + chance / 2), min(retry_after, LONGEST_PAUSE))
