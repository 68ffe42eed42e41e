"""Operators' bans of destination hosts and accounts.

`services` creates and lifts bans, and checks a URL; `hosts` normalises a banned host; `admin` has the operators'
pages of bans. SQL of other apps calls `bans_is_host_banned()`. Bans of single links are in
`links.operators`.
"""
