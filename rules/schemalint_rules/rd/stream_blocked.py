from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemalint.plugin import AffectedStreams, Problem, RuleContext, Severity, rule

_ERROR = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"


@rule("RD009", on=AffectedStreams, severity=Severity.ERROR, scope="effect", delta_errors=(_ERROR,))
def stream_blocked(streams: AffectedStreams, _ctx: RuleContext) -> Iterator[Problem]:
    """A declared stream stops at the change, and starts again only once it allows what changed.

    ## What it does

    Plans the change, and finds the declared streams with a `schema_tracking_location` that it blocks: those
    that meet a rename, a drop or a widened type which their `unblock` does not allow. A column that is
    dropped and declared again counts as a drop, and so does the removal of column mapping from a table that
    was created with it. A table that got it later has the names of its columns in its files, and the stream
    only stops; without `--live` that is unknown, and the finding a warning. RD010 reports streams that cannot
    go on at all, RD011 those that only stop.

    With `--live` the numbers under `unblock` count too: the version of the table after the apply, which
    allows this change alone. Without it, that version is unknown, and only `always` counts.

    With `--live`, it is a warning if this change is not the cause: all these streams have to meet earlier
    commits that do the same, by their own files.

    ## Why is this bad?

    The query stops when it reaches the change. Every later start fails with
    `DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION`, until its operators have looked at
    what it does with a column that has another name or type, or is gone, and have allowed the change.

    ## What to do

    Agree with the owner of the stream, and adapt its query. Set the settings that the help names in the
    stream's Spark session before the apply, or the option on its reader, and keep them until the stream has
    passed the change: each start needs them. Then declare them under `unblock`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: cust, type: string}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - name: silver
        owner: "@orders"
        stream: {checkpoint: "s3a://lake/checkpoints/silver", schema_tracking_location: "s3a://lake/checkpoints/silver"}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - name: silver
        owner: "@orders"
        stream: {checkpoint: "s3a://lake/checkpoints/silver", schema_tracking_location: "s3a://lake/checkpoints/silver"}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
      - {name: customer, type: string, renamed_from: cust}
    properties: {delta.columnMapping.mode: name}
    consumers:
      - name: silver
        owner: "@orders"
        stream:
          checkpoint: s3a://lake/checkpoints/silver
          schema_tracking_location: s3a://lake/checkpoints/silver
          unblock: {rename: always}
    ```
    """
    blocked = streams.with_verdict("blocked")
    if not blocked:
        return
    path, object_ = streams.cause("blocked")
    waiting = "; ".join(
        f"{streams.title(stream)} for {', '.join(kind.key for kind in stream.effect.unblock)}"
        for stream in blocked
    )
    when = "" if all(stream.is_earlier for stream in blocked) else "before the apply "
    is_unsure = streams.depends_on_creation("blocked")
    condition = "if the table was created with column mapping, " if is_unsure else ""
    yield Problem(
        f"{condition}streams stop, and start again only once they allow what changed: {waiting}",
        help=f"adapt the queries, and set {when}{_settings(streams)}; then declare `unblock`",
        severity=Severity.WARNING if is_unsure or all(stream.is_earlier for stream in blocked) else None,
        path=path,
        object=object_,
        part="dropped" if path else None,
        delta_error=_ERROR,
    )


def _settings(streams: AffectedStreams) -> str:
    """Return Spark's settings for each blocked stream, and the reader options that do the same for all."""
    settings = []
    options: dict[str, str] = {}
    for stream in streams.with_verdict("blocked"):
        keys = " or ".join(
            _assigned(spelling.conf) + (f" ({spelling.scheme})" if len(stream.settings) > 1 else "")
            for spelling in stream.settings
        )
        if keys:
            settings.append(f"for {stream.consumer.name} {keys}")
        options |= {kind.option: "always" for kind in stream.effect.unblock}
    return "; ".join((*settings, f"{'or ' if settings else ''}on the readers {_assigned(options)}"))


def _assigned(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())
