"""Issuers of tokens, for tests: one with a secret, some with keys, and a server that hands those out."""

import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from livewell.access import AccessStore
from livewell.kernel import Database

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
SECRET = "a secret of this test that nobody guesses, as long as any algorithm wants one to be"
ISSUER, AUDIENCE = "https://login.example", "livewell"

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()


def claims(**more: Any) -> dict[str, Any]:
    """What a good token says; None takes a claim out."""
    at = int(NOW.timestamp())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": at, "exp": at + 300, **more}
    return {name: value for name, value in said.items() if value is not None}


def token(key: Any = SECRET, algorithm: str = "HS256", headers: Mapping[str, Any] | None = None, **more: Any) -> str:
    """A token of these claims, signed so."""
    return jwt.encode(claims(**more), key, algorithm=algorithm, headers=dict(headers or {}))


def written(header: Any, said: Any, signature: bytes = b"x") -> str:
    """A token as nobody would sign it: any header, any claims."""
    parts = (part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, said))
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, signature))


def public_keys(**named: Any) -> dict[str, Any]:
    """The key set of private keys, by their ids."""
    makers: dict[type, Any] = {rsa.RSAPrivateKey: RSAAlgorithm, ec.EllipticCurvePrivateKey: ECAlgorithm}
    keys = []
    for key_id, key in named.items():
        maker = next((maker for kind, maker in makers.items() if isinstance(key, kind)), OKPAlgorithm)
        keys.append({**json.loads(maker.to_jwk(key.public_key())), "kid": key_id, "use": "sig"})
    return {"keys": keys}


async def declare(owner: Database, name: str = "app", **fields: Any) -> None:
    """An issuer as its owner declares it."""
    said = {"issuer": ISSUER, "audience": AUDIENCE, "algorithm": "HS256", **fields}
    await AccessStore(owner).apply_issuers({name: said}, plan_only=False, actor="test")


@asynccontextmanager
async def serving(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A server on this machine that answers so; its address."""
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/keys.json"
    finally:
        await runner.cleanup()
