"""What requests, addresses and URLs say: `client_address`, `current_request`, `hosts`, `destination_url`."""
