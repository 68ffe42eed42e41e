from typing import Any

from django.db.models import QuerySet
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import ModelViewSet

from bench.stock.models import Link
from bench.stock.serializers import LinkSerializer


class LinkViewSet(ModelViewSet[Link]):
    serializer_class = LinkSerializer

    def get_queryset(self) -> QuerySet[Link]:
        owner: Any = self.request.user
        return Link.objects.filter(owner=owner)

    def perform_create(self, serializer: BaseSerializer[Link]) -> None:
        serializer.save(owner=self.request.user)
