"""Imports for all child processes, loaded once in the fork server: a proof starts hundreds of drainers."""

from importlib import import_module

import django

django.setup()
for name in ("analytics.journal.capture", "analytics.management.commands.drain_clicks"):
    import_module(name)
