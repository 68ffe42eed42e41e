"""What every child needs, loaded once: a drainer that starts at once can be killed hundreds of times."""

from importlib import import_module

import django

django.setup()
for name in ("analytics.capture", "analytics.management.commands.drain_clicks"):
    import_module(name)
