"""What the `plans` of accounts, the `roles` of members and the `scopes` of keys allow. `representations` has the
limits of a plan as the API shows them.
"""
