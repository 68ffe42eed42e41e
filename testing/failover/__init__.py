"""A highly available installation in network namespaces of this machine, its faults, and the truth about its clients."""
