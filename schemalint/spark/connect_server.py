"""A Spark Connect server: whether one answers, and understands this client."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from schemalint.base.errors import ApplyError
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.statements import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LONGEST_WAIT: Final = 60.0  # seconds, for a Connect server


def remote_of(settings: TrustedSpark) -> str | None:
    """Return the address of the Connect server, with its token; None without one."""
    return settings.remote or os.environ.get("SPARK_REMOTE")


def connect_server(settings: TrustedSpark) -> str | None:
    """Return the Connect server of the settings as ``sc://host:port``, without a token; None without one."""
    remote = remote_of(settings)
    if remote and remote.startswith("sc://"):
        return remote.partition(";")[0].rstrip("/")
    return None


def require_answer(remote: str, server: str) -> None:
    """Require that the Connect server answers soon.

    PySpark itself tries 15 times, with pauses of up to a minute (`DefaultPolicy` in its `retries.py`).
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        import grpc  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

        channel = DefaultChannelBuilder(remote).toChannel()
    except (ImportError, PySparkException):
        return  # a package is missing, or the address is invalid: creating the session reports it
    try:
        grpc.channel_ready_future(channel).result(timeout=_LONGEST_WAIT)
    except grpc.FutureTimeoutError:
        raise ApplyError(
            f"no Spark Connect server answers at {server} within {_LONGEST_WAIT:.0f} seconds: "
            f"{silence_of(server)}",
            help="check that it runs and can be reached, and see --remote and SPARK_REMOTE",
        ) from None
    finally:
        channel.close()


def silence_of(server: str) -> str:
    """Return why a server does not answer; gRPC does not say it."""
    address = urlsplit(server)
    try:
        with socket.create_connection(
            (address.hostname or "localhost", address.port or _CONNECT_PORT), _ATTEMPT_SECONDS
        ) as connection:
            connection.sendall(_HTTP2_PREFACE)
            answer = connection.recv(1)
    except TimeoutError:
        return "it accepts the connection, and stays silent"
    except ConnectionResetError:
        return "it resets the connection"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    if answer:
        return "what answers there is no Spark Connect server"
    return "it closes the connection"


_CONNECT_PORT: Final = 15002
_ATTEMPT_SECONDS: Final = 5.0
_HTTP2_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"  # RFC 9113, section 3.4


def require_understanding(session: SparkSession) -> None:
    """Require that the Connect server understands this client, which must not be newer.

    Spark 3.5 reads an empty statement in what databricks-connect 15.4 sends (measured).
    """
    import pyspark  # noqa: PLC0415

    try:
        session.sql("SELECT 1").collect()
    except Exception as error:
        raise ApplyError(
            f"the Connect server, Spark {session.version}, does not understand this client, pyspark "
            f"{pyspark.__version__}: {first_line(error)}",
            help="install the client in the version of the server, such as pyspark[connect]==3.5.*",
        ) from error


def shorten_retries(session: SparkSession) -> None:
    """Let a Connect session repeat a request for 40 seconds at most; PySpark's own ten minutes are silent."""
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 (only with Connect)
    except ImportError:
        return  # PySpark 3.5 has one policy for all

    session.client.set_retry_policies([DefaultPolicy(max_retries=6, max_backoff=20_000)])
