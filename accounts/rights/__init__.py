"""What the `plans` of accounts, the `roles` of members and the `scopes` of keys allow."""
