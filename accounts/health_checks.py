"""How often the destination of a link is checked: a choice of its workspace, and of the link.

Apart from the models, because the table of the fields of a link is read without them.
"""

from __future__ import annotations

from django.db import models


class HealthCheck(models.TextChoices):
    OFF = "off"
    WEEKLY = "weekly"
    DAILY = "daily"
