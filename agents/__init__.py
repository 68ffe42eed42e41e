"""The Model Context Protocol, by which programs that use language models call the API: ``POST /mcp``.

`views` answers a message: `protocol` says what it is, `tools` lists and calls what it may name, and `results` keep the
answers short. There is no session: each message stands alone, as in revision 2026-07-28 of the protocol. Clients of
revisions before it begin with ``initialize``, which is answered without remembering anything.
"""
