"""The bodies and the queries of accounts, workspaces and the history."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_address, ip_network
from typing import Any
from uuid import UUID

from django.core.validators import RegexValidator
from rest_framework import serializers

from accounts.code_styles import ALPHABET_HELP, LENGTH_HELP, MAX_LENGTH, MIN_LENGTH, CodeAlphabet
from accounts.health_checks import HealthCheck
from accounts.representations import member_object, own_account, read_workspace_object
from accounts.rights import Role
from accounts.second_factor import MAX_CHARACTERS
from common.ids import parse_public_id
from common.rest.fields import Integer, List, Name, QueryInteger, Text, choice_field
from common.rest.pagination import DEFAULT_LIMIT, MAX_LIMIT


def code_length_field() -> Integer:
    return Integer(
        source="code_length",
        required=False,
        allow_null=True,
        min_value=MIN_LENGTH,
        max_value=MAX_LENGTH,
        help_text=LENGTH_HELP,
    )


def code_alphabet_field() -> serializers.ChoiceField:
    return choice_field(
        CodeAlphabet.values,
        source="code_alphabet",
        required=False,
        allow_null=True,
        help_text=ALPHABET_HELP,
    )


class LoginSerializer(serializers.Serializer[Any]):
    email = Text(max_length=254, style={"input_type": "email"})
    password = Text(max_length=128, style={"input_type": "password"})
    otp = Text(
        required=False,
        max_length=MAX_CHARACTERS,
        help_text="For accounts with a second factor: the code of the authenticator app, or a recovery code.",
    )


class RefreshSerializer(serializers.Serializer[Any]):
    refreshToken = Text(max_length=2000)


class ProfileSerializer(serializers.Serializer[Any]):
    """A client may send back the whole account: read-only fields are ignored, but not a different ``email``."""

    returned = own_account.names

    firstName = Text(source="first_name", required=False, allow_blank=True, max_length=100)
    lastName = Text(source="last_name", required=False, allow_blank=True, max_length=100)
    language = Text(
        required=False,
        allow_null=True,
        validators=[RegexValidator(r"\A[a-z]{2,3}\Z", "Must be a language code such as de.")],
        help_text="Of mails to the account, if the service has it; else they are in English.",
    )
    email = Text(
        required=False,
        max_length=254,
        style={"input_type": "email"},
        help_text="Only the current value is accepted.",
    )


class ChangePasswordSerializer(serializers.Serializer[Any]):
    currentPassword = Text(source="current_password", max_length=128, style={"input_type": "password"})
    newPassword = Text(
        source="new_password",
        max_length=128,
        style={"input_type": "password"},
        help_text="At least 10 characters, not a common password, and not similar to the account's name or e-mail.",
    )


class CreateWorkspaceSerializer(serializers.Serializer[Any]):
    name = Name(max_length=100)


MAX_IGNORED_NETWORKS = 20


class NetworkField(Text):
    default_error_messages = {
        "network": "Must be an IPv4 or IPv6 network in CIDR notation, such as 203.0.113.0/24, or an address.",
        "host_bits": "The address is not the first one of the network; did you mean {network}?",
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            network = ip_network(text, strict=False)
            # A zone would make another network of the same name on each host.
            is_valid = "%" not in text
        except ValueError:
            is_valid = False
        if not is_valid:
            self.fail("network")
        if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
            # Visitors have IPv4 addresses in their own form.
            first = network.network_address.ipv4_mapped
            network = ip_network(f"{first}/{network.prefixlen - _MAPPED.prefixlen}", strict=False)
        elif str(network.network_address) != str(ip_address(text.partition("/")[0])):
            self.fail("host_bits", network=network)
        return str(network)


_MAPPED = IPv6Network("::ffff:0:0/96")


class Networks(List):
    def to_internal_value(self, data: Any) -> list[Any]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class UpdateWorkspaceSerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = read_workspace_object.names

    name = Name(max_length=100, required=False)
    ignoredNetworks = Networks(
        source="ignored_networks",
        child=NetworkField(characters=64),
        max_length=MAX_IGNORED_NETWORKS,
        required=False,
        help_text=f"At most {MAX_IGNORED_NETWORKS} networks, private ones too. Later visits from them do not count.",
    )
    healthCheck = choice_field(source="health_check", choices=HealthCheck.values, required=False)
    codeLength = code_length_field()
    codeAlphabet = code_alphabet_field()


class UpdateMemberSerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = member_object.names

    role = choice_field(choices=Role.values, required=False)


class _Email(serializers.EmailField):
    """An address, put into lower case before validation: some letters are longer in lower case."""

    def to_internal_value(self, data: Any) -> str:
        return str(super().to_internal_value(data)).lower()


class InviteSerializer(serializers.Serializer[Any]):
    role = choice_field(choices=Role.values, default=Role.VIEWER.value)
    email = _Email(
        required=False,
        allow_blank=True,
        max_length=254,
        help_text="Only the account with this address can accept the invitation. Without it, any account can.",
    )


NO_ID = "Must be an id."


class IdField(Text):
    default_error_messages = {"id": NO_ID}

    def to_internal_value(self, data: Any) -> UUID:  # type: ignore[override] # the id, not its text
        identifier = parse_public_id(super().to_internal_value(data))
        if identifier is None:
            self.fail("id")
        return identifier


class HistoryQuery(serializers.Serializer[Any]):
    cursor = Text(required=False, help_text="The `nextCursor` of the previous page.")
    limit = QueryInteger(
        default=DEFAULT_LIMIT,
        min_value=1,
        max_value=MAX_LIMIT,
        help_text="The maximum number of changes on a page.",
    )


class AuditQuery(HistoryQuery):
    actor = IdField(source="actor_id", required=False, characters=36, help_text="The `_id` of an account.")
    action = Text(required=False, characters=40, help_text="Such as `link.updated`.")
    object = IdField(source="object_id", required=False, characters=36, help_text="The `_id` of an object.")
