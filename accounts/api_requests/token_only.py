"""The base of views for persons. REST framework loads the other modules here before it has views."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication

from accounts.api_requests.authentication import BearerAuthentication
from common.rest.api import ApiViewSet


class TokenOnlyViewSet(ApiViewSet):
    """Base of the views for what only a person who logged in can do; a key cannot."""

    authentication_classes = [BearerAuthentication]
    takes_keys = False

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [BearerAuthentication(is_only_method=True)]
