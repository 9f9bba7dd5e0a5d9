"""The settings of a crawl as keyword arguments, for editors and type checkers. A test compares them
with `settings.py`, where each is explained."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

from sanderling.settings import Login, Render, Rule, Scope, Webhook
from sanderling.subscriptions import Notify
from sanderling.watches import Watch

Duration = float | str  # seconds, or a text such as 10s, 5m or 2h
Size = int | str  # bytes, or a text such as 64KiB or 16MiB


class CrawlOptions(TypedDict, total=False):
    """See docs/settings.md."""

    scope: Scope
    include: Sequence[str]
    exclude: Sequence[str]
    url_filters: Sequence[str | Callable[..., Any]]
    follow_links: bool
    follow_schemes: Sequence[str]
    sitemaps: bool
    reports: bool
    report_at: Sequence[str]
    report_interval: Duration
    heed_taken: bool
    take_at: Sequence[str]
    take_reset: str
    images: bool
    requisites: bool
    hold: bool
    order: str
    topic: str
    relatedness: float
    tunnel_depth: int
    min_harvest: float
    topic_share: float
    cut_short: bool
    forms: Literal["none", "search", "filters", "all-get"]
    form_queries: int
    form_pages: int
    form_post: Sequence[str]
    form_values: dict[str, Sequence[str]]
    max_pages: int
    max_depth: int
    max_time: Duration
    max_bytes: Size
    collection: int
    always: Sequence[str]
    clients: int | str
    min_clients: int
    connections: int
    body_memory: Size
    per_host: int
    by_address: bool
    assignment: str | None
    delay: Duration
    delay_factor: float
    max_delay: Duration
    ignore_robots: bool
    follow_nofollow: bool
    allow_private: bool
    private_seeds: bool
    user_agent: str
    contact: str
    proxy: str
    cookies: bool
    login: Sequence[Login | dict[str, Any]]
    fetchers: Sequence[str | Callable[..., Any]]
    html_parser: Literal["turbohtml", "lexbor"]
    skip_types: Sequence[str]
    body_types: Sequence[str]
    body_urls: Sequence[str]
    body_text: bool
    body_changed: bool
    revisit_records: bool
    max_body: Size
    max_media: Size
    connect_timeout: Duration
    first_byte_timeout: Duration
    fetch_timeout: Duration
    low_speed_time: Duration
    retries: int
    retry_wait: Duration
    host_patience: Duration
    render: Render
    render_include: Sequence[str]
    block: Sequence[str]
    wait_for: Sequence[str]
    run_script: Sequence[str]
    close_banners: bool
    click_links: bool
    screenshots: bool
    render_timeout: Duration
    render_tabs: int
    render_memory: Size
    states: int
    state_depth: int
    state_time: Duration
    reported_only: bool
    browser: str
    browser_sandbox: bool
    rules: Sequence[Rule | dict[str, Any]]
    down_after: Duration
    keep: str
    watch: Sequence[Watch | dict[str, Any]]
    extractors: Sequence[str | Callable[..., Any]]
    index: bool
    webhook: Sequence[Webhook | dict[str, Any]]
    notify: Sequence[str | Notify | dict[str, Any]]
    keep_fresh: str
    quiet: str
    cluster: str
    hosts: str
    hosts_ssh: str
    hosts_program: str
    cluster_compress: bool
    cluster_patience: Duration
    levels: int
    fan_out: int
    relay_alone: Duration
    min_free: Size
    compression: Literal["fast", "small"]
    archive: str
    store: str
