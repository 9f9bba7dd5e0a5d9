"""The user's own URL filters: functions that say why a URL is not followed, the last links in the
chain of the scope."""

from functools import partial
from pathlib import Path

from sanderling import plugins
from sanderling.model.reasons import reason
from sanderling.server.frontier.scope import UrlFilter
from sanderling.settings import Settings

# Characters of a reason that is kept with a URL.
_LONGEST = 200


def url_filters(settings: Settings, folder: Path) -> list[UrlFilter]:
    """BadSetting says which one cannot be loaded, and why."""
    loaded = plugins.load(plugins.URL_FILTERS, settings.url_filters, folder)
    return [partial(_objection, each) for each in loaded]


def _objection(plugin: plugins.Plugin, url: str, home: str) -> str:
    """The function gets the URL, and returns why it is not followed, or nothing. A URL on which it
    fails is not followed; it is kept, and asked about again when the settings change."""
    try:
        said = plugin.value(url)
    except Exception as error:  # the user's code can raise anything
        said = f"{plugin.name} failed: {plugins.described(error)}"
    return reason("filtered", " ".join(str(said).split())[:_LONGEST]) if said else ""
