"""What the endpoints share: the shelf, and how long lists come in parts."""

from typing import Annotated

from fastapi import Depends, Query, Request

from sanderling.web.shelf import Shelf

MOST = 500


def _shelf(request: Request) -> Shelf:
    shelf: Shelf = request.app.state.shelf
    return shelf


GivenShelf = Annotated[Shelf, Depends(_shelf)]
Limit = Annotated[int, Query(ge=1, le=MOST, description="how many at most")]
After = Annotated[str, Query(max_length=500, description="`next` of the part before this one")]
