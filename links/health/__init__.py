"""The health of destinations: checks whether they still answer, and says so of links.

`states` decides from the results of checks whether a destination is dead, `probe` makes one check, `hosts` spares the
hosts that are called, `robots` reads what they forbid, and `checks` finds the links whose check is due and stores the
result. `services` and `views` are for requests of owners.
"""
