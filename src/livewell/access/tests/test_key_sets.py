"""Key sets: which of the keys an issuer hands out count."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from livewell.access import Algorithm
from livewell.access.key_sets import key_set
from livewell.access.tests.issuing import EC, ED, RSA, public_keys


@pytest.mark.parametrize("algorithm", [Algorithm.RS256, Algorithm.ES256, Algorithm.EDDSA])
def test_only_public_keys_of_the_right_kind_count(algorithm: Algorithm) -> None:
    """Secrets, private keys, other kinds, weak ones and those for something else are passed over."""
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - a weak one, to be passed over
    other = ec.generate_private_key(ec.SECP384R1())
    mixed = public_keys(rsa=RSA, ec=EC, ed=ED, small=small, other=other)["keys"]
    strange: list[Any] = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "oct", "alg": algorithm.value},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "HS256"},
        *({**key, "kid": f"enc-{key['kid']}", "use": "enc"} for key in mixed),
        *({**key, "kid": f"alg-{key['kid']}", "alg": "HS256"} for key in mixed),
        {**mixed[2], "kid": "private", "d": "AAAA"},
        {"kty": "RSA", "kid": "broken"},
        {"kty": "RSA", "n": 7, "e": [], "kid": "odd"},
        "text",
        None,
        7,
    ]
    found = key_set(json.dumps({"keys": [*strange, *mixed]}).encode(), algorithm)
    expected = {Algorithm.RS256: "rsa", Algorithm.ES256: "ec", Algorithm.EDDSA: "ed"}[algorithm]
    assert set(found.by_id) == {expected}
    assert found.unnamed == ()


NO_KEY_SETS = [b"", b"{}", b"[]", b'{"keys": {}}', b"\xff", b"[" * 9999, b'{"keys":[' + b"0," * 200 + b"0]}"]


@pytest.mark.parametrize("content", NO_KEY_SETS)
def test_what_is_no_key_set_is_refused(content: bytes) -> None:
    """Whatever an address answers, it is a ValueError and nothing else."""
    with pytest.raises(ValueError):  # noqa: PT011 - the reader of JSON has its own words
        key_set(content, Algorithm.RS256)
