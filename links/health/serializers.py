from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.rest.fields import List, Text
from links.health.services import MAX_LINKS


class CheckSerializer(serializers.Serializer[Any]):
    ids = List(child=Text(), min_length=1, max_length=MAX_LINKS, help_text="The `_id` of each URL.")
