"""An authenticator for passkeys, with a key in memory. It obeys the test, not the options of the page."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from accounts.models import User
from accounts.second_factor import handle_of


class Passkey:
    def __init__(self, host: str, origin: str, counter: int = 0) -> None:
        """``counter``: of the registration."""
        self.origin = origin
        self._counter = counter
        self._host_digest = hashlib.sha256(host.encode()).digest()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(32)

    def register(self, client: Client) -> str:
        """The JSON that answers the challenge in the client's session."""
        public_key = ES256.from_cryptography_key(self._key.public_key())
        credential = AttestedCredentialData.create(Aaguid.NONE, self.id, public_key)
        flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV | AuthenticatorData.FLAG.AT
        data = AuthenticatorData.create(self._host_digest, flags, self._counter, credential)
        client_data = self._client_data("webauthn.create", client)
        response = {"attestationObject": websafe_encode(AttestationObject.create("none", data, {}))}
        return self._json(client_data, response, {"credProps": {"rk": True}})

    def sign(
        self, client: Client, user: User, *, verifies_user: bool = True, counter: int = 0, **changes: Any
    ) -> str:
        """The same for a login. ``changes`` replace parts of the response."""
        flags = AuthenticatorData.FLAG.UP
        if verifies_user:
            flags |= AuthenticatorData.FLAG.UV
        data = AuthenticatorData.create(self._host_digest, flags, counter)
        client_data = self._client_data("webauthn.get", client)
        signature = self._key.sign(bytes(data) + client_data.hash, ec.ECDSA(hashes.SHA256()))
        response = {
            "authenticatorData": websafe_encode(bytes(data)),
            "signature": websafe_encode(signature),
            "userHandle": websafe_encode(handle_of(user)),
            **changes,
        }
        return self._json(client_data, response, {})

    def _client_data(self, kind: str, client: Client) -> CollectedClientData:
        challenge = websafe_decode(client.session["mfa.webauthn.state"]["challenge"])
        return CollectedClientData.create(kind, challenge, self.origin)

    def _json(
        self, client_data: CollectedClientData, response: dict[str, Any], extensions: dict[str, Any]
    ) -> str:
        return json.dumps(
            {
                "id": websafe_encode(self.id),
                "rawId": websafe_encode(self.id),
                "type": "public-key",
                "response": {"clientDataJSON": websafe_encode(bytes(client_data)), **response},
                "clientExtensionResults": extensions,
            }
        )
