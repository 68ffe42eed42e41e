"""The same create as most would write it: a DRF view set, the ORM inside `atomic`, a ModelSerializer for the answer.

Credentials, field rules, envelope and tables are the service's own, so that only the way of writing differs.
"""

# ruff: noqa: N815 # the names of the interface

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from bench.plain_view import follow
from common.destination_url import canonical_destination
from domains.addresses import address_of
from domains.models import Domain, DomainStatus
from links.codes import generate_code
from links.models import Code, Link
from links.namespace import codes_of_new_link
from links.selectors import tag_key
from links.serializers import CreateLinkSerializer


class LinkSerializer(serializers.ModelSerializer[Link]):
    _id = serializers.UUIDField(source="public_id")
    originalUrl = serializers.CharField(source="original_url")
    shortCode = serializers.CharField(source="short_code")
    customCode = serializers.CharField(source="custom_code")
    shortUrl = serializers.SerializerMethodField()
    clickCount = serializers.SerializerMethodField()
    isActive = serializers.BooleanField(source="is_active")
    createdAt = serializers.DateTimeField(source="created_at")

    class Meta:
        model = Link
        fields = (
            *("_id", "originalUrl", "shortCode", "customCode", "shortUrl", "title", "tags", "clickCount"),
            *("isActive", "createdAt"),
        )

    def get_shortUrl(self, link: Link) -> str:  # noqa: N802 # as DRF finds it
        return f"{address_of(link.domain).short_url}/{link.custom_code or link.short_code}"

    def get_clickCount(self, link: Link) -> int:  # noqa: N802 # as DRF finds it
        return 0


class LinkViewSet(ModelViewSet[Link]):
    queryset = Link.objects.all()
    serializer_class = CreateLinkSerializer

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with transaction.atomic():
            link = self._create(request.user, **serializer.validated_data)
        address = address_of(link.domain)
        domain = {"id": address.id, "fullDomain": address.full_domain, "shortUrl": address.short_url}
        data = {"url": LinkSerializer(link).data, "domain": domain}
        body = {"success": True, "message": "URL created successfully.", "data": data}
        return Response(body, status=201)

    def _create(self, owner: Any, original_url: str, tags: list[str] | None = None, **fields: Any) -> Link:
        destination = canonical_destination(original_url)
        if Domain.objects.filter(host=destination.host, status=DomainStatus.ACTIVE).exists():
            raise serializers.ValidationError({"originalUrl": "Leads back to this service."})
        password, now = fields.pop("password", None), timezone.now()
        link = Link.objects.create(
            owner=owner,
            short_code=generate_code(),
            original_url=original_url,
            destination=destination.href,
            tags=tags or [],
            tag_keys=sorted({tag_key(tag) for tag in tags or []}),
            password=None if password is None else make_password(password),
            created_at=now,
            updated_at=now,
            **fields,
        )
        for taken in codes_of_new_link(link.domain_id, link.short_code, link.custom_code):
            Code.objects.create(domain_id=taken.domain_id, code=taken.code, kind=taken.kind, link=link)
        return link


urlpatterns = [path("api/urls", LinkViewSet.as_view({"post": "create"})), path("<str:code>", follow)]
