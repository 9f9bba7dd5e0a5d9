"""When to come back: the update module, as arithmetic without a network, a store or a clock.

A page's life here: every visit is one observation, "changed" or "unchanged since the visit before". `estimate` and
`belief` turn observations into what is believed about the page's change rate, beginning from what is known of pages
like it (`pattern`, then host, then the whole crawl). `tide` notices that pages of a folder change together, so that
one visit tells something about its neighbours; `signals` does the same for what a host says about itself. `policy`
says when a page is due, `budget` sets the one threshold that makes all due times together fit the budget, and
`importance` says what a page is worth. `memory` holds all of it for a whole crawl.

Times are in days, rates in changes a day. A caller may use any other unit, as long as it is the same everywhere;
only `belief.RATES`, the range of rates that are thought possible, is bound to days.
"""
