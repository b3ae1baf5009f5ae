"""What can be wrong with the embedded PostgreSQL, each as one line a person can act on."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from livewell.kernel.errors import LivewellError

NO_SPACE = "No space left on device"


class EmbeddedError(LivewellError):
    """The embedded PostgreSQL cannot be used."""

    code = "kernel.embedded_error"


class EmbeddedPlatformUnsupported(EmbeddedError):
    """There are no PostgreSQL binaries for this platform."""

    code = "kernel.embedded_platform_unsupported"


class EmbeddedVersionMismatch(EmbeddedError):
    """The data folder was made by another major version of PostgreSQL."""

    code = "kernel.embedded_version_mismatch"


class EmbeddedFolderForeign(EmbeddedError):
    """The folder holds something that Livewell did not put there."""

    code = "kernel.embedded_folder_foreign"


class EmbeddedFolderRefused(EmbeddedError):
    """The operating system does not let this user work in the folder."""

    code = "kernel.embedded_folder_refused"


class EmbeddedDiskFull(EmbeddedError):
    """There is no room left on the disk of the data folder."""

    code = "kernel.embedded_disk_full"


class EmbeddedNotStarted(EmbeddedError):
    """The server did not start, or does not accept connections."""

    code = "kernel.embedded_not_started"


class EmbeddedNotStopped(EmbeddedError):
    """The server did not stop in time."""

    code = "kernel.embedded_not_stopped"


class EmbeddedBusy(EmbeddedError):
    """Another process has been starting or stopping this server for too long."""

    code = "kernel.embedded_busy"


class EmbeddedSettingRefused(EmbeddedError):
    """A setting cannot be written to the server's configuration."""

    code = "kernel.embedded_setting_refused"


def disk_full(folder: Path) -> EmbeddedDiskFull:
    return EmbeddedDiskFull(
        f"no space left on the disk of {folder}", fix="free some space, or set LIVEWELL_DATA to another disk"
    )


@contextmanager
def folder_facts(folder: Path) -> Iterator[None]:
    """Say what the operating system refuses in `folder` as a fact."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(folder) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            raise EmbeddedFolderRefused(
                f"cannot work in {folder}: {error.strerror}: {error.filename}",
                fix="use its owner's account, or set LIVEWELL_DATA to a folder of your own",
            ) from error
        raise
