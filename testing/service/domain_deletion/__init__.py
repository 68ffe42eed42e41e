"""The deletion of a domain with many links while visitors follow them."""
