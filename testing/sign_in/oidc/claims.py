from __future__ import annotations

from typing import Any

from oauth2_provider.oauth2_validators import OAuth2Validator

# The provider's claims about the user. A test changes them by a request to /claims.
CLAIMS: dict[str, Any] = {}


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        return CLAIMS

    def get_oidc_claims(self, token: Any, token_handler: Any, request: Any) -> dict[str, Any]:
        claims: dict[str, Any] = super().get_oidc_claims(token, token_handler, request)
        return claims | CLAIMS
