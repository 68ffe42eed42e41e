"""Numbers of clicks: `claims` takes one of a capped link's, `counters` adds the counted ones to links."""
