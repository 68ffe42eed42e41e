"""Click limits and totals: `claims` takes one of a capped link's clicks, `counters` adds counted clicks to links."""
