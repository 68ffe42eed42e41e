"""CRC-32C, as the journal's frames use it."""

cdef uint32_t[8][256] _CRC


cdef void _fill_table():
    cdef uint32_t value
    cdef int byte, bit, row
    for byte in range(256):
        value = byte
        for bit in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        _CRC[0][byte] = value
    for byte in range(256):
        for row in range(1, 8):
            value = _CRC[row - 1][byte]
            _CRC[row][byte] = (value >> 8) ^ _CRC[0][value & 0xFF]


_fill_table()


cdef uint32_t _crc32c(const uint8_t *data, Py_ssize_t size) noexcept:
    """Eight bytes at a time (slicing-by-8)."""
    cdef uint32_t crc = 0xFFFFFFFF
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, data, 8)
        word ^= crc
        crc = (
            _CRC[7][word & 0xFF] ^ _CRC[6][(word >> 8) & 0xFF]
            ^ _CRC[5][(word >> 16) & 0xFF] ^ _CRC[4][(word >> 24) & 0xFF]
            ^ _CRC[3][(word >> 32) & 0xFF] ^ _CRC[2][(word >> 40) & 0xFF]
            ^ _CRC[1][(word >> 48) & 0xFF] ^ _CRC[0][word >> 56]
        )
        data += 8
        size -= 8
    while size > 0:
        crc = (crc >> 8) ^ _CRC[0][(crc ^ data[0]) & 0xFF]
        data += 1
        size -= 1
    return crc ^ 0xFFFFFFFF
