"""Pages that JavaScript makes: a browser without a network, whose requests the client's own fetcher
answers."""
