"""The reasons for the state of a URL, each a code with arguments. Only this module turns them into
sentences.

A reason is stored as text: `robots`, or with an argument `status:403`. Crawl folders contain the
codes, so a code is never renamed. Its sentence may change.
"""

# The arguments replace `{}`. An argument that is not the last one must not contain a space.
SENTENCES = {
    # Not followed: out of scope
    "other-host": "scope: another host",
    "other-domain": "scope: another domain",
    "outside-prefix": "scope: outside the prefix",
    "scheme": "scope: a link to {}, which --follow-schemes follows",
    "exclude": "matches an exclude pattern",
    "include": "matches no include pattern",
    "filtered": "a URL filter says: {}",
    "ends-session": "would end the session that cookies keep",
    # Not followed for other reasons
    "changes-something": "would change something in the session of your login",
    "login-page": "it is the page to log in on",
    "too-deep": "deeper than max_depth",
    "too-many-redirects": "more than {} redirects",
    "sitemap-nested": "sitemaps nested more than {} deep",
    "sitemap-many": "more than {} sitemaps",
    "sitemap-elsewhere": "scope: a sitemap of another host",
    "not-reported": "the site's own report does not name it",
    "robots": "disallowed by robots.txt",
    "too-large": "larger than {} bytes (max_media)",
    "requisite-deep": "a file that a file needs, more than {} in a row",
    "skipped-type": "skips type {}",
    "left-collection": "left the collection: others are more important",
    "form-refinement": "another view of a form's answer",
    "form-redirect": "its answer is elsewhere",
    "form-nofollow": "its answers say nofollow; --follow-nofollow follows them all the same",
    "form-nothing": "its answer brought nothing",
    # Why a form is not sent, or not any more
    "form-login": "login forms are never sent",
    "form-file": "it takes a file",
    "form-nowhere": "its action, {}, is not on the web",
    "form-harm": "it looks like a form for: {}",
    "form-post": "POST, and not named in form_post",
    "form-empty": "nothing in it can be filled in",
    "form-scope": "its action is out of scope: {}",
    "form-answers-scope": "its answers are redirected out of scope: {}",
    "form-unwanted": "this crawl does not send {} forms",
    "form-robots": "robots.txt disallows its action",
    "form-dull": "its last {} answers brought nothing new",
    "form-found": "all of its records seem to be found",
    "form-little": "{} of its last {} answers brought nothing new",
    "form-done": "nothing is left to fill in",
    "form-budget": "the budget of {} queries a day is used up",
    "form-limited": "it answered {}",
    "form-many": "more than {} forms on this host",
    "form-broken": "its first answers were errors",
    # Another name of a known page
    "merged-host": "merged: {} is {}",
    "merged-parameters": "merged: parameter {} does not count",
    "merged-visited": "merged: visited with a parameter that does not count",
    # Held back until similar URLs bring new content
    "held-far": "held: more than {} steps from anything new",
    "held-spent": "held: found on a page that repeats another, and there were enough of these",
    "held-pattern": "held: {} has to bring something new first",
    "held-listed": "held: a page lists it, but {} has to bring something new first",
    "held-view": "held: it combines known names, and {} shows what other pages show",
    "held-domain": "held: the hosts of {} bring nothing new",
    "held-mirror": "held: its host shows the pages of {}",
    "held-off-topic": "held: {} pages off the topic lead to it, one after the other",
    # What a visit found
    "status": "answered {}",
    "collapsed": "{}",
    "soft-404": "soft 404: the host answers like this to addresses that do not exist",
    "redirect-nowhere": "redirects to nowhere",
    "redirect-invalid": "redirects to {}, which is not on the web",
    "redirect-self": "redirects to itself",
    "unread": "kept unread: {}",
    "body-left-out": "read, but its body is not kept: {}",
    "cut-short": "cut short: its beginning is not on the topic",
    "not-rendered": "kept as it was sent, not rendered: {}",
    "state-gone": "the events that led to this state of its page lead nowhere now",
    "state-needs-browser": "only a browser shows it: crawl with --render",
    "blocked-type": "pages get no {}",
    "page-asks-too-much": "the page asks for too much",
    "not-a-sitemap": "not a sitemap: {}",
    "set-aside": "set aside: it ended a client process twice",
    "signed-out": "it shows that nobody is logged in",
    "login-failed": "the login failed: {}",
    "login-refused": "the login failed: {}",
    "login-not-tried": "{} (in an earlier try; correct it and use --retry-failed)",
    "session-over": "the session has ended: pages show that nobody is logged in",
    # Why there was no answer
    "private-address": "leads to the private address {}",
    "timed-out": "timed out: {}",
    "first-byte": "timed out: no first byte within {} s",
    "unresolved": "the host name cannot be resolved",
    "no-connection": "timed out: {}",
    "tls": "{}",
    "unreachable": "the host cannot be reached",
    "proxy": "the proxy does not lead to the host: {}",
    "certificate": "the TLS certificate is not valid: {}",
    "connection-broke": "the connection broke: {}",
    "no-answer": "the connection was closed without an answer",
    "body-ended-early": "the body ended early",
    "bad-encoding": "the body is not encoded as it says",
    "headers-too-large": "the headers are too large",
    "network": "{}",
    # The result of fetching robots.txt. If it could not be read, the argument is the reason of that
    # fetch.
    "robots-read": "robots.txt {}",
    "robots-failed": "robots.txt answered {}",
    "robots-missing": "robots.txt {}: everything is allowed",
    "robots-unreadable": "robots.txt could not be read: {}",
    # What an earlier version stored as a sentence that is none of these
    "other": "{}",
}

OUT_OF_SCOPE = (
    "other-host",
    "other-domain",
    "outside-prefix",
    "scheme",
    "exclude",
    "include",
    "filtered",
    "ends-session",
    "changes-something",
)
# Other settings may bring these back.
BY_SETTINGS = (*OUT_OF_SCOPE, "too-deep")


def reason(code: str, *arguments: object) -> str:
    """Makes a reason as it is stored."""
    assert code in SENTENCES, code
    return f"{code}:{' '.join(map(str, arguments))}" if arguments else code


def code_of(stored: str) -> str:
    return stored.partition(":")[0]


def argument_of(stored: str) -> str:
    return stored.partition(":")[2]


def sentence(stored: str) -> str:
    """The sentence for a stored reason. An unknown code, made by a newer version, is returned
    unchanged."""
    code, _, argument = stored.partition(":")
    words = SENTENCES.get(code)
    if words is None:
        return stored
    if code == "robots-unreadable":
        argument = sentence(argument)
    slots = words.count("{}")
    return words.format(*argument.split(" ", slots - 1)) if slots > 1 else words.format(argument)
