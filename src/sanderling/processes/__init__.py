"""How child processes are started, watched and ended, and the table of their entry points."""
