"""Requests that the fast lane cannot answer at once, in the order of the attempts.

`link_lookups` reads links from the database, and `click_claims` claims the clicks of limited links: then the fast lane
answers after all. Everything else waits in `request_queue` for a thread, which runs Django in `request_threads`.
`between_processes` passes a request to an API worker, and its connection back.
"""
