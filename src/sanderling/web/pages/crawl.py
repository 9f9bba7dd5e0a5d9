"""One crawl: its progress, its current work and its newest changes."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.repository.opening import settings_for
from sanderling.settings import DECLARED, Rule, Settings
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages import settings_form, topic
from sanderling.web.pages.live import state_in, vitals
from sanderling.web.pages.rendering import show
from sanderling.web.running import last_line

router = APIRouter()


@router.get("/crawls/{crawl}")
def overview(request: Request, crawl: str, shelf: ShelfDep) -> HTMLResponse:
    folder = shelf.folder(crawl)
    settings, planted = settings_for(folder, {})
    with state_in(shelf, folder) as store:
        seeds = (store.seeds() if store else []) or planted
        shown = vitals(request, crawl, folder, store)
        harvest = topic.harvest(folder, store, settings.relatedness)
    names = [each.name for each in DECLARED if each.name not in (*settings_form.SECRET, "private_seeds")]
    chosen = {name: getattr(settings, name) for name in names if getattr(settings, name) != getattr(Settings(), name)}
    return show(
        request, "crawl.html", tab="Overview", **shown, was="", alone=False, trouble="",
        seeds=", ".join(seeds[:3]) + (f" and {len(seeds) - 3} more" if len(seeds) > 3 else ""),
        folder=folder.path, harvest=harvest,
        chosen=[(settings_form.label(name), _plain(name, value)) for name, value in chosen.items()], said=last_line(folder),
        command=settings_form.command(str(folder.path), planted, {name: chosen[name] for name in chosen if name != "rules"}),
    )  # fmt: skip


def _plain(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(map(_rule, value)) if name == "rules" else ", ".join(map(str, value))
    return settings_form.typed_without_password(name, value)


def _rule(rule: Rule) -> str:
    parts = [
        f"{verb} {', '.join(chosen)}" for verb, chosen in (("ignore", rule.ignore), ("watch", rule.watch)) if chosen
    ]
    return " and ".join(parts or ["watch everything"]) + (f" on {rule.urls}" if rule.urls else "")
