"""Texts as vectors: texts that mean the same have vectors that point the same way.

The model is static: each piece of a word has a vector, and a text has the mean of them. It comes as
a file of the package `wordllama`, of which no code is used, and nothing is downloaded. A passage of
80 words takes about a tenth of a millisecond.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sanderling.errors import UsageError

DIMENSIONS: Final = 256
NAME: Final = "wordllama-l2-supercat-256"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_MISSING: Final = "a search by meaning needs a model of word meanings: pip install 'sanderling[semantic]'"

Matrix = NDArray[np.float32]


class Embedder:
    """A loaded model. Raises UsageError if it is not installed."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("wordllama")
        if found is None or not found.submodule_search_locations:
            raise UsageError(_MISSING)
        home = Path(found.submodule_search_locations[0])
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            (self._pieces,) = load_file(home / _WEIGHTS).values()
            self._tokenizer = Tokenizer.from_file(str(home / _TOKENIZER))
        except (ImportError, OSError, ValueError) as error:
            raise UsageError(f"{_MISSING} (the installed one cannot be read: {error})") from None

    def embed(self, texts: list[str]) -> Matrix:
        """A vector of length 1 for each text, or of length 0 for one without words."""
        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, encoded in zip(found, self._tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
            if encoded.ids:
                row[:] = self._pieces[encoded.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        np.divide(found, lengths, out=found, where=lengths > 0)
        return found


@cache
def embedder() -> Embedder:
    return Embedder()
