"""The responses of a process. `outbox.Outbox` holds the unsent parts of one, `client_stream.ClientStream` receives the
response of a thread, and `busy` has those that the event loop sends without Django.
"""
