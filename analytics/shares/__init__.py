"""Shared reports: pages that anybody may read who knows their address.

`services` creates, changes and revokes shares, `report` reads what one shows, and `page` answers its readers.
"""
