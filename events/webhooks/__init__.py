"""Webhooks: events of a workspace, sent to the endpoints that its admins choose.

`services` and `views` manage endpoints. The process `deliver_events` sends: `fan_out` makes deliveries of the events
that an endpoint wants, `leases` decides who sends which delivery now, `parcels` make them ready and send them,
`messages` has the formats, `outcomes` stores what became of them, and `deliverer` is the loop around them.
"""
