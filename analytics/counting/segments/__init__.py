"""What the database knows of each journal segment. `segment_rows` locks a segment and stores how much of it was
counted, `duplicates` skips records that were counted already, and `losses` records bytes that were wiped before they
were counted. `finished_segments` is this host's log of the segments that it counted and deleted.
"""
