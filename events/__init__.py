"""Events: what happened in a workspace, for programs that listen.

The SQL function `events_emit` stores an event in the transaction of the change, if the workspace listens. Triggers
call it, and services `outbox.emit`. `outbox` reads events in their order, `clock` emits what no change causes, and
`retention` deletes old ones. `types` has every kind of event.
"""
