"""Read files that others may have chosen: they can be larger than the memory, or never end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe does not wait for its writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_plain(file: Path, most: int) -> bytes:
    """Read a file that lies in a repository: no link, which may lead out of it, and no device or pipe.

    Raises:
        OSError: The file cannot be read, is none, or has more than ``most`` bytes; ``strerror`` says so.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | _NO_WAIT | _NO_LINK)
    except ValueError:
        raise _refusal("its name has a NUL character") from None
    except OSError as error:
        if file.is_symlink():
            raise _refusal("it is a symbolic link, which may lead out of the repository") from None
        raise error if error.errno != errno.ENXIO else _refusal("it is not a regular file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refusal("it is not a regular file")
    with os.fdopen(descriptor, "rb") as opened:
        return _bounded(opened.read(most + 1), most)


def read_given(file: Path | str, most: int) -> bytes:
    """Read a file that the user names, which may be a pipe.

    Raises:
        OSError: The file cannot be read, or has more than ``most`` bytes; ``strerror`` says so.
    """
    try:
        with Path(file).open("rb") as opened:
            return _bounded(opened.read(most + 1), most)
    except ValueError:
        raise _refusal("its name has a NUL character") from None


def is_path(text: str) -> bool:
    """Whether a text can be a path: JSON and YAML can hold NUL characters and lone surrogates."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _bounded(data: bytes, most: int) -> bytes:
    if len(data) > most:
        size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
        raise _refusal(f"it has more than {size}, a limit of schemalint", errno.EFBIG)
    return data


def _refusal(reason: str, number: int = errno.EINVAL) -> OSError:
    return OSError(number, reason)
