"""The second factor of a login: `codes` checks one, `policy` decides who needs one, `sealing` seals its secrets.
`passkeys` adds to allauth's passkeys.
"""
