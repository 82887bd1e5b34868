"""The JSON form of a declared consumer: the inverse of each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schemalint.delta.path import path_from_json, path_to_json
from schemalint.model.consumer import Consumer, declared_stream
from schemalint.model.json_values import (
    Content,
    flag_of,
    list_of,
    number_of,
    object_of,
    optional_text_of,
    text_of,
)


def consumer_to_json(consumer: Consumer) -> dict[str, object]:
    """Return all that is declared of a consumer, and nothing that changes by itself."""
    stream = consumer.stream
    return {
        "name": consumer.name,
        "client": consumer.client,
        "version": consumer.version,
        "read_path": consumer.read_path,
        "access": consumer.access,
        "columns": [path_to_json(path) for path in consumer.columns],
        "owner": consumer.owner,
        "cdf": consumer.cdf,
        "stream": stream
        and {
            "checkpoint": stream.checkpoint,
            "schema_tracking_location": stream.schema_tracking_location,
            "source": stream.source,
            "checkpoint_scheme": stream.checkpoint_scheme,
            "unblock": {kind.key: until for kind, until in stream.unblock.items()},
        },
    }


def consumer_from_json(value: object) -> Consumer:
    """Return the consumer of a JSON value.

    Raises:
        LookupError, TypeError, ValueError: The value is no consumer.
    """
    content = object_of(value)
    return Consumer(
        name=text_of(content["name"]),
        client=optional_text_of(content["client"]),
        version=optional_text_of(content["version"]),
        read_path=optional_text_of(content["read_path"]),
        access=text_of(content["access"]),
        columns=tuple(path_from_json(list_of(path)) for path in list_of(content["columns"])),
        owner=optional_text_of(content["owner"]),
        cdf=flag_of(content["cdf"]),
        stream=None
        if content["stream"] is None
        else declared_stream(dict(_stream(object_of(content["stream"])))),
    )


def _stream(content: Content) -> Iterator[tuple[str, Any]]:
    yield "checkpoint", text_of(content["checkpoint"])
    yield "schema_tracking_location", optional_text_of(content["schema_tracking_location"])
    yield "source", number_of(content["source"])
    yield "checkpoint_scheme", optional_text_of(content["checkpoint_scheme"])
    unblock = object_of(content["unblock"])
    yield (
        "unblock",
        {kind: until if until == "always" else number_of(until) for kind, until in unblock.items()},
    )
