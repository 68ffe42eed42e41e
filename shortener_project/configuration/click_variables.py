"""The environment variables for recorded clicks, and for the locations of visitors."""

from __future__ import annotations

from shortener_project.configuration.declaration import Group

clicks = Group("Clicks and locations")
CLICK_SYNC = clicks.choice(
    "CLICK_SYNC",
    ("group", "process", "strict"),
    "When a recorded click is on disk. `group`: within 50 ms. `strict`: before the response. `process`: when the "
    "operating system writes it; only an operating system crash or power failure can lose it.",
)
CLICK_BACKLOG_MB = clicks.integer(
    "CLICK_BACKLOG_MB",
    1024,
    "`/readyz` returns 503 while more MB than this wait in the host's journal.",
    minimum=1,
)
CLICK_RETENTION_DAYS = clicks.integer(
    "CLICK_RETENTION_DAYS",
    0,
    "Days to keep raw clicks, at least: whole months are deleted at once, roll-ups never. 0: keep them forever.",
)
GEOIP_DATABASE = clicks.files(
    "GEOIP_DATABASE",
    "Files that map addresses to cities, nested or flat. Countries work without any.",
    values="mmdb files",
    shown="the file from `manage.py update_geodata`",
)
GEODATA_URL = clicks.monthly_address(
    "GEODATA_URL",
    "https://download.db-ip.com/free/dbip-city-lite-{year}-{month:02}.mmdb.gz",
    "Source of `manage.py update_geodata`: an mmdb file, gzipped or not, without a redirect. `{year}` and "
    "`{month:02}` are replaced.",
    shown="DB-IP City Lite",
)
