"""The tables of `accounts`, by subject. Import the models from here, and the limits on their values from `keys` and
`workspaces`.
"""

from accounts.models.accounts import ApiKey, EndReason, PasskeyHandle, Session, StoredResponse, User
from accounts.models.changes import Change
from accounts.models.keys import ScopedKey
from accounts.models.workspaces import Invitation, Member, Workspace

__all__ = [
    "ApiKey",
    "Change",
    "EndReason",
    "Invitation",
    "Member",
    "PasskeyHandle",
    "ScopedKey",
    "Session",
    "StoredResponse",
    "User",
    "Workspace",
]
