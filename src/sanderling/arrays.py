"""Type names for arrays that several rooms use."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
