from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import Contract, ObjectRef, Problem, RuleContext, Severity, Stream, rule


@rule("RD013", on=Contract, severity=Severity.WARNING, scope="contract", live=True)
def stream_state_unknown(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """It is not known where a declared stream is.

    ## What it does

    With `--live`, and in `plan` and `audit`, schemalint reads `offsets/` and `commits/` in the checkpoint of
    each declared stream, and reports why it cannot say how far the stream has come:

    - the checkpoint is not below the target's root or one of its `allowed_locations`, or a link leads out
      of them, so that it was not opened;
    - it is in a store that schemalint cannot read, or its path is relative;
    - a file is missing or cannot be understood; the message names the file and the line;
    - the table's log no longer has the version that the stream is at.

    RD012 reports faults of the schema log.

    ## Why is this bad?

    A stream still has to pass all changes that it has not met yet, and not only those of this edit. Without
    its files schemalint cannot tell whether it will stop or be blocked. Most of these faults also keep the
    query itself from starting.

    ## What to do

    Add the folder of the checkpoint to the target's `allowed_locations`, in the configuration that counts.
    Restore a damaged file from a backup; a query without its offsets needs a new checkpoint.

    ## Example

    A target with the root `/lake`:

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: billing
        stream: {checkpoint: /checkpoints/orders}
    ```

    ```yaml title="log"
    - protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: order_id, type: long}]}
    ```

    ```yaml title="checkpoints"
    /lake/checkpoints/orders/metadata: "{}"
    /lake/checkpoints/orders/offsets/0: |-
      v1
      {"batchWatermarkMs":0,"batchTimestampMs":1795380786895}
      {"sourceVersion":1,"reservoirId":"t-1","reservoirVersion":1,"index":-1,"isStartingVersion":false}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: order_id, type: bigint}
    consumers:
      - name: billing
        stream: {checkpoint: /lake/checkpoints/orders}
    ```
    """
    for consumer in contract.consumers:
        for message, help_ in _unknown(consumer.stream, ctx):
            yield Problem(
                f"it is unknown where the stream of {consumer.name} is: {message}",
                help=help_,
                object=ObjectRef("consumer", consumer.name),
                part="stream",
            )


def _unknown(stream: Stream | None, ctx: RuleContext) -> Iterator[tuple[str, str]]:
    progress = stream.progress if stream else None
    if progress is None or ctx.live is None:
        return
    if progress.unknown is not None:
        yield progress.unknown, progress.help
    elif progress.is_known and progress.to_meet is None and progress.next_version is not None:
        first_version = ctx.live.history_since(max(progress.next_version - 1, 0)).known_from
        message = (
            f"it reads on at version {progress.next_version}, and the table's log begins at {first_version}"
        )
        yield message, "restore the log's files, or start the query with a new checkpoint"
