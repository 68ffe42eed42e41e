"""Commands that change the database and end wait until a standby confirms commits, see REQUIRE_SYNCHRONOUS.

On a host whose service does not run, or beside it with another VAR_DIR, nothing has confirmed any yet.
"""

from __future__ import annotations

import time

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from common.host import primary
from common.postgresql import servers

# After a failover of the kit, another server leads within 35 seconds.
WAIT_SECONDS = 40.0


def wait_for_standby() -> None:
    """Return once a standby confirms commits, and check the servers from then on. Raises CommandError.

    Without REQUIRE_SYNCHRONOUS, return at once.
    """
    if not settings.REQUIRE_SYNCHRONOUS:
        return
    parameters = connection.get_connection_params()
    watches = [servers.Watch(server) for server in servers.servers_of(parameters)]
    deadline = time.monotonic() + WAIT_SECONDS
    while not primary.has_standby():
        for watch in watches:
            watch.check()
        if primary.has_standby():
            break
        if time.monotonic() > deadline:
            raise CommandError(
                f"No synchronous standby has confirmed commits for {WAIT_SECONDS:.0f} s (REQUIRE_SYNCHRONOUS=yes)."
                ' Nothing was changed. Try again once /readyz says "commits": "ok".'
            )
        time.sleep(servers.PERIOD_SECONDS)
    servers.watch_servers(parameters)
