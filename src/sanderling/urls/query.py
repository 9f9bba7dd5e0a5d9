"""The parameters that never say which page is meant: they tell where a visitor came from, or who
the visitor is.

This file is the list, for every host alike. What a single host ignores beside it is learned from
its pages. A name belongs here when it means the same on all sites; one that some site uses to
choose a page does not.
"""

import re


def _named(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Written by advertising, mailing and analytics services into links to pages that are not theirs.
TRACKING = _named(
    """
    _ga _gl _hsenc _hsmi _openstat _branch_match_id _bta_c _bta_tid _ke
    dclid gad_source gbraid gclid gclsrc wbraid srsltid
    fbclid fb_action_ids fb_action_types fb_source igsh igshid twclid ttclid li_fat_id epik rdt_cid scclid
    msclkid yclid ysclid ymclid mibextid
    mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash oly_anon_id oly_enc_id vero_conv vero_id wickedid
    hsctatracking __hsfp __hssc __hstc __s
    irclickid irgwc cjevent zanpid ranmid raneaid ransiteid
    piwik_campaign piwik_keyword piwik_kwd matomo_campaign matomo_keyword matomo_kwd
    s_kwcid ef_id s_cid wt.mc_id wt_mc wt_zmc xtor at_campaign at_medium
    spm_id_from share_source share_medium vd_source
    """
)

# Sessions of the servers that put them into URLs, whatever the value.
SESSIONS = _named("phpsessid jsessionid aspsessionid cfid cftoken oscsid zenid sessid phpsess")
STARTS = ("utm_", "hsa_", "pk_", "mtm_", "stm_", "aspsessionid")
# Sessions when the value looks drawn at random; `sid=17` is a story.
MAYBE_SESSIONS = _named("sid s_id session session_id sessionid sess sesskey jsession php_session osid")

_NEVER = TRACKING | SESSIONS
_RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{16,}|[0-9a-fA-F-]{20,}")
# `/page;jsessionid=0A1B.node1?x` and the `/(S(abc))/` of ASP.NET.
_IN_SEGMENT = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?;]*", re.IGNORECASE)
_SEGMENT = re.compile(r"(?<=/)\((?:[AFSX]\([A-Za-z0-9_-]{10,}\))+\)/", re.IGNORECASE)


def is_noise(name: str, value: str) -> bool:
    """Whether a parameter of a query says nothing about which page is meant."""
    name = name.lower()
    if name in _NEVER or name.startswith(STARTS):
        return True
    return name in MAYBE_SESSIONS and _RANDOM.fullmatch(value) is not None


def without_noise(url: str) -> str:
    """A URL without the parameters that name no page; the others stay as they are and where they
    are."""
    path, question, query = url.partition("?")
    if ";" in path:
        path = _IN_SEGMENT.sub("", path)
    if "(" in path:  # afterwards: `/(S(abc));sid=1/` is one of them now
        path = _SEGMENT.sub("", path)
    if not question:
        return path
    parts = query.split("&")
    kept = []
    for part in parts:
        name, _, value = part.partition("=")
        if not is_noise(name, value):
            kept.append(part)
    if len(kept) < len(parts):
        query = "&".join(kept)
    return f"{path}?{query}" if query else path


def without(url: str, names: frozenset[str]) -> str:
    """A URL without the parameters of these names."""
    path, question, query = url.partition("?")
    if not question:
        return url
    query = "&".join(part for part in query.split("&") if part.partition("=")[0] not in names)
    return f"{path}?{query}" if query else path


def names_in(url: str) -> list[str]:
    """The names of a URL's parameters, in order, each once."""
    query = url.partition("?")[2]
    return list(dict.fromkeys(part.partition("=")[0] for part in query.split("&"))) if query else []
