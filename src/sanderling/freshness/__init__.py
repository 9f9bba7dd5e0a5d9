"""When to come back: the update module, as arithmetic without a network, a store or a clock.

A page's life here: every visit is one observation, "changed" or "unchanged since the visit before". `evidence` keeps what
visits said in a few numbers a page, `trust` and `signals` how far its host can be believed. `collection` turns both into
what is believed of every page of a crawl, beginning from what is known of pages like it (`pattern`, then host, then
the whole crawl; `belief`) and from what its neighbours did lately (`tides`). `worth` says what a visit is worth then,
`budget` sets the one threshold that makes all visits together cost the budget, `planning` chooses pages or makes a
schedule, and `importance` says what a page counts. `outlook` tells people about it. `memory` and `tide` do the same
visit by visit, for the simulation. `estimate` has the published estimators, which beliefs are tested against.

Times are in days, rates in changes a day. A caller may use any other unit, as long as it is the same everywhere;
only `belief.RATES`, the range of rates that are thought possible, is bound to days.
"""
