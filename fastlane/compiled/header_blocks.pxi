"""The header fields of requests, by their bytes. Python code parses each block once."""


@cython.final
cdef class Block:
    """The header fields of a request in the form of a record. ``suffix``: the part of the link's key after the code."""

    cdef bytes suffix, agent, referrer
    cdef str forwarded_for
    cdef uint8_t kind, flags
    cdef bint closes
    cdef object fields


@cython.final
cdef class HeaderBlocks:
    cdef dict blocks
    cdef frozenset own_hosts

    def __init__(self, frozenset own_hosts):
        self.blocks, self.own_hosts = {}, own_hosts

    cdef Block block_of(self, Input received, Py_ssize_t start, Py_ssize_t block_start, Py_ssize_t end):
        """Return the parsed header fields of a head, or None if it is not simple."""
        cdef bytes key = received.part(block_start, end)
        cdef Block block = self.blocks.get(key)
        if block is not None:
            return block
        try:
            _, _, _, fields = read_head(received.part(start, end))
        except NotSimple:
            return None
        block = Block()
        block.fields, block.agent, block.referrer = fields, fields.agent, fields.referrer
        block.forwarded_for, block.closes, block.flags = fields.forwarded_for, fields.closes, fields.flags
        block.kind = KINDS[fields.kind]
        block.suffix = None if fields.host in self.own_hosts else link_key(fields.host, b"")
        if len(key) <= CACHED_BLOCK_BYTES:
            if len(self.blocks) >= CACHED_BLOCKS:
                self.blocks.clear()
            self.blocks[key] = block
        return block
