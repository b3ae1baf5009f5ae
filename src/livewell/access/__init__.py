"""Who comes in, and who sees what: credentials, read rules for viewers, and subjects that are shared.

The room owns `issuer` (whose tokens count), `access_key`, `subject` and `share`, and applies the read rule of a data
type, which is one of the registry's fields. Whoever comes with a token or an access key is a `Principal`
(`Doorkeeper`). Of a type it sees what its class sees: the role and the claims that the type declares (`Readers`).

Invariants. Nothing of a token is believed before its signature is verified, by the one algorithm its issuer has and by
keys that are that issuer's. No secret is in the database: of an access key its hash, of an issuer where its secret is.
A read for viewers runs in a read-only transaction that has the role and the claims of the class and nothing else, on a
login that inherits nothing and is a member of viewers' roles only; whatever role the code of a policy takes, it is a
viewer's. Two viewers of whom a declared claim differs are of two classes, and what one was sent is never "the same" for
the other. What is not said to be readable is not.

How it fails. A credential that does not hold is refused with a reason that repeats nothing of it. While the keys of an
issuer cannot be had, those that were held go on to count; when there are none, that is said, and nobody comes in by
them. A change of rights is told on `livewell_rights` in the transaction that makes it; a notice can be lost, so that
everything is asked anew every `live.recheck`.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.access.access_keys import NewKey, new_access_key
    from livewell.access.declaration import AccessSection, IssuerDeclaration, issuer_sources
    from livewell.access.doorkeeper import Doorkeeper
    from livewell.access.errors import (
        AccessError,
        ExpiredCredential,
        InvalidAccess,
        InvalidAccessKey,
        InvalidCredential,
        InvalidIssuer,
        KeysUnavailable,
        NoReader,
        NotReadable,
        NotSignedIn,
        RevokedCredential,
        SubjectTaken,
        UnknownAccessKey,
        UnknownSubject,
    )
    from livewell.access.readers import READER_URL, Readers
    from livewell.access.store import RIGHTS_CHANNEL, AccessStore
    from livewell.access.tokens import signed
    from livewell.access.types import (
        ANONYMOUS,
        AccessKey,
        Algorithm,
        Issuer,
        Principal,
        ReadClass,
        ReadItem,
        Scope,
        Share,
        Subject,
    )
else:
    __getattr__ = opened(__name__)

__all__ = [
    "ANONYMOUS",
    "READER_URL",
    "RIGHTS_CHANNEL",
    "AccessError",
    "AccessKey",
    "AccessSection",
    "AccessStore",
    "Algorithm",
    "Doorkeeper",
    "ExpiredCredential",
    "InvalidAccess",
    "InvalidAccessKey",
    "InvalidCredential",
    "InvalidIssuer",
    "Issuer",
    "IssuerDeclaration",
    "KeysUnavailable",
    "NewKey",
    "NoReader",
    "NotReadable",
    "NotSignedIn",
    "Principal",
    "ReadClass",
    "ReadItem",
    "Readers",
    "RevokedCredential",
    "Scope",
    "Share",
    "Subject",
    "SubjectTaken",
    "UnknownAccessKey",
    "UnknownSubject",
    "issuer_sources",
    "new_access_key",
    "signed",
]
