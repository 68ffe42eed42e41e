"""Links for operators: `search` finds them, `bans` stops single ones, `affected` counts what a ban stops, and
`visitor_state` says what visitors see.
"""
