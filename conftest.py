"""Read before any test, and before numpy: its threads would wait for each other by spinning."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
