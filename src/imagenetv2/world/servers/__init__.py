"""Local servers of the embedded world, on loopback, for the clients that speak to the real services."""
