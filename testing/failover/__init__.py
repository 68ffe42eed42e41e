"""A highly available installation in network namespaces, its faults, and the truth about its clients."""
