from typing import ClassVar

from rest_framework import serializers

from bench.stock.models import Link


class LinkSerializer(serializers.ModelSerializer[Link]):
    class Meta:
        model = Link
        fields: ClassVar = [
            "id",
            "code",
            "url",
            "title",
            "tags",
            "is_active",
            "clicks",
            "created_at",
            "updated_at",
        ]
