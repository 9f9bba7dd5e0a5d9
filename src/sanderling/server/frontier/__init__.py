"""What is to be visited, and who gets it: admission, queue, leases, limits and totals."""
