"""The service beside thousands of slow clients."""
