"""Ed25519 signatures (RFC 8032) in Python alone: a few milliseconds each.

Only for signing what is public, on the machine that holds the key: the time that it takes is not
hidden. Readers verify with a library.
"""

from __future__ import annotations

from functools import lru_cache

from sanderling_announce.hashing import sha512

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P


_BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


@lru_cache(maxsize=1)
def public_key(secret: bytes) -> bytes:
    return _packed(_times(_scalar(sha512(secret).digest()), _BASE))


def sign(secret: bytes, message: bytes) -> bytes:
    digest = sha512(secret).digest()
    scalar, key = _scalar(digest), public_key(secret)
    nonce = _number(sha512(digest[32:] + message).digest()) % _ORDER
    point = _packed(_times(nonce, _BASE))
    challenge = _number(sha512(point + key + message).digest()) % _ORDER
    return point + ((nonce + challenge * scalar) % _ORDER).to_bytes(32, "little")


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _scalar(digest: bytes) -> int:
    return _number(digest[:32]) & ((1 << 254) - 8) | 1 << 254


def _times(scalar: int, point: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    found = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            found = _sum(found, point)
        point = _sum(point, point)
        scalar >>= 1
    return found


def _sum(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _packed(point: tuple[int, int, int, int]) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")
