"""`/health`: whether the server works, for whoever restarts it or raises an alarm. It needs no
token, so it names no crawl."""

from fastapi import APIRouter, Request, Response

from sanderling.web.keeper import Keeper

router = APIRouter(include_in_schema=False)


@router.get("/health")
def health(request: Request) -> Response:
    """200 if all is well; 503 if folders do not get their turns, or their turns fail. `/metrics`
    says which."""
    keeper: Keeper | None = request.app.state.keeper
    well = keeper is None or not keeper.problem()
    return Response("ok\n" if well else "failing\n", 200 if well else 503, media_type="text/plain")
