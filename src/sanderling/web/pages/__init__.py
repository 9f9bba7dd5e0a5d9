"""Pages for people: each a function that reads through the shelf and fills a template."""

from fastapi import APIRouter

router = APIRouter(include_in_schema=False)
