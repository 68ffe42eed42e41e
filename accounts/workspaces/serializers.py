from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.representations import member_object, read_workspace_object
from accounts.rights import Role
from common.rest.fields import Name


class CreateWorkspaceSerializer(serializers.Serializer[Any]):
    name = Name(max_length=100)


class UpdateWorkspaceSerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = read_workspace_object.names

    name = Name(max_length=100, required=False)


class UpdateMemberSerializer(serializers.Serializer[Any]):
    """Clients may send back the whole object."""

    returned = member_object.names

    role = serializers.ChoiceField(choices=Role.values, required=False)


class _Email(serializers.EmailField):
    """An address, put into lower case before validation: some letters are longer in lower case."""

    def to_internal_value(self, data: Any) -> str:
        return str(super().to_internal_value(data)).lower()


class InviteSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.values, default=Role.VIEWER.value)
    email = _Email(
        required=False,
        allow_blank=True,
        max_length=254,
        help_text="Only the account with this address can accept the invitation. Without it, any account can.",
    )
