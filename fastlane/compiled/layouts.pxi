"""Structures of the tables and of the journal, declarations of the system's interface, and constants."""

cdef extern from *:
    """
    #pragma pack(push, 1)
    typedef struct {
        uint64_t code_number, host_number;
        int64_t link_id;
        double until;
        uint32_t code_counter, host_counter;
        uint16_t status;
        uint8_t flags;
        uint32_t rules;
    } prepared_head;
    typedef struct {
        uint16_t length, complement;
        uint32_t checksum;
    } frame_head;
    typedef struct {
        int64_t time, subject;
        uint8_t kind, flags, address, reason;
        uint16_t agent, referrer;
    } record_head;
    #pragma pack(pop)
    """
    ctypedef struct prepared_head:
        uint64_t code_number
        uint64_t host_number
        int64_t link_id
        double until
        uint32_t code_counter
        uint32_t host_counter
        uint16_t status
        uint8_t flags
        uint32_t rules
    ctypedef struct frame_head:
        uint16_t length
        uint16_t complement
        uint32_t checksum
    ctypedef struct record_head:
        int64_t time
        int64_t subject
        uint8_t kind
        uint8_t flags
        uint8_t address
        uint8_t reason
        uint16_t agent
        uint16_t referrer
    const char *SOURCE_VERSION

cdef extern from "<sys/epoll.h>":
    ctypedef union epoll_data_t:
        int fd
    struct epoll_event:
        uint32_t events
        epoll_data_t data
    enum:
        EPOLLIN
        EPOLL_CTL_ADD
    int epoll_ctl(int descriptor, int operation, int subject, epoll_event *event)
    int epoll_wait(int descriptor, epoll_event *events, int limit, int milliseconds) nogil

cdef extern from "<sys/socket.h>":
    ctypedef uint32_t socklen_t
    struct sockaddr:
        pass
    struct sockaddr_storage:
        int ss_family
    enum:
        AF_INET
        AF_INET6
        MSG_DONTWAIT
        MSG_MORE
        MSG_NOSIGNAL
        SHUT_WR
        SOCK_CLOEXEC
        SOCK_NONBLOCK
    int accept4(int descriptor, sockaddr *address, socklen_t *length, int flags)
    Py_ssize_t recv(int descriptor, void *buffer, size_t size, int flags)
    int shutdown(int descriptor, int how)
    Py_ssize_t send(int descriptor, const void *buffer, size_t size, int flags)

cdef extern from "<netinet/in.h>":
    struct sockaddr_in:
        uint16_t sin_port
        uint32_t sin_addr
    struct sockaddr_in6:
        uint16_t sin6_port
        uint32_t sin6_flowinfo
        uint32_t sin6_addr
        uint32_t sin6_scope_id
    enum:
        INET6_ADDRSTRLEN
    uint16_t ntohs(uint16_t number)
    uint32_t ntohl(uint32_t number)

cdef extern from "<arpa/inet.h>":
    const char *inet_ntop(int family, const void *address, char *text, socklen_t size)

cdef extern from "<sys/un.h>":
    struct sockaddr_un:
        char[108] sun_path

cdef extern from "<unistd.h>":
    int close(int descriptor)

cdef enum:
    # As in `event_loop`, `acceptor` and `reader`.
    EVENTS = 64
    READ_BYTES = 8192
    MAX_ANSWERS = 64
    # As in `request_head`.
    CACHED_BLOCKS = 4096
    CACHED_BLOCK_BYTES = 1024
    # A longer buffer is freed after its batch.
    KEPT_BYTES = 1 << 20

# As `fastlane.worker._UPKEEP_SECONDS`: Python code does the rest of the worker's work that often.
cdef double REPEAT_SECONDS = 0.05
# At full rate, answers that are counted later have left the CPU's caches: without this limit, 0.97 of the rate.
cdef int REPEAT_BATCHES = 16

# Formats and sizes of the structures above, which the loader compares with those of the Python code.
PREPARED_FORMAT = "<QQqdIIHBI"
SIZES = (sizeof(prepared_head), sizeof(frame_head), sizeof(record_head))
