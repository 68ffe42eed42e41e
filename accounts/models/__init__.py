"""The tables of `accounts`, by subject. Import the models from here, and the limits on their values from `keys` and
`workspaces`.
"""

from accounts.models.accounts import ApiKey, EndReason, PasskeyHandle, Session, StoredResponse, User
from accounts.models.changes import Change, HistorySize
from accounts.models.keys import ScopedKey
from accounts.models.workspaces import Invitation, Member, StorageLimit, Workspace

__all__ = [
    "ApiKey",
    "Change",
    "EndReason",
    "HistorySize",
    "Invitation",
    "Member",
    "PasskeyHandle",
    "ScopedKey",
    "Session",
    "StorageLimit",
    "StoredResponse",
    "User",
    "Workspace",
]
