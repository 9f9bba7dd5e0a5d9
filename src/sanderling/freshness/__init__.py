"""Decides when to visit pages again. This room only computes: it uses no network, no store and no
clock.

Every visit to a known page is one observation: "changed" or "unchanged since the last visit".
`evidence` sums up the observations of a page in a few numbers. `trust` and `signals` record how
reliable its host's hints are. `collection` turns both into beliefs about the change rate of every
page. A belief starts from similar pages (`url_groups`: the folder, the URL pattern, the host, then
the whole crawl; see `belief`) and from what the neighbours of a page did recently (`seasons`).
`worth` computes the value of a visit, and `importance` the weight of a page. `budget` finds the
threshold at which all visits together cost the budget. `planning` chooses pages or makes a
schedule, and `outlook` summarises the beliefs for people.

Times are in days and rates in changes a day. A caller may use another unit if it does so
everywhere. Only `belief.RATES`, the range of possible rates, is fixed to days.
"""
