"""Webhooks: events of a workspace, sent to the endpoints that its admins choose.

`services` and `views` manage endpoints. The process `deliver_events` sends: `fan_out` makes deliveries of the events that
an endpoint wants, `leases` decides who sends which delivery now, `messages` writes the request in the endpoint's format,
`outcomes` stores what became of it, and `deliverer` is the loop around them.
"""
