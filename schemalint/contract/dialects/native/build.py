"""Build a contract from data that fits the native format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from typing import cast

from schemalint.base.document import Document, Mapping, Node, Scalar, Sequence, node_at
from schemalint.base.document import Path as YamlPath
from schemalint.base.document.outline import Outline
from schemalint.base.values import field, frozen, replace
from schemalint.contract.anchors import TextAnchors
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.column_reader import ColumnReader
from schemalint.contract.dialects.native.exception_reader import read_exception
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.short_texts import read_names, read_path, read_table_name
from schemalint.contract.dialects.native.spans import ColumnSpans, setting_spans
from schemalint.delta import properties, table
from schemalint.delta.datatype import UNMANAGED, Field, Struct, path_of_names
from schemalint.delta.path import Path
from schemalint.delta.protocol import canonical
from schemalint.model import contract
from schemalint.model.consumer import Consumer, declared_stream, stream_faults
from schemalint.model.rewrite import Rewrites


@frozen
class Columns:
    """Columns that were read before, and what the contract says of some of them."""

    fields: tuple[Field, ...] = ()
    deprecated: MappingType[Path, contract.Deprecation] = field(default_factory=dict)
    backfills: MappingType[Path, contract.Backfill] = field(default_factory=dict)


@frozen
class UnreadColumns:
    """The columns that a document has, and that are not read in it.

    Attributes:
        before: Those before the columns that are read.
        after: Those after them.
        outline: Where all columns of the document are.
    """

    before: Columns
    after: Columns
    outline: Outline


def build(data: native.Contract, report: Report, unread: UnreadColumns | None = None) -> contract.Contract:
    """Return the contract of a document.

    Args:
        data: The document's content, which fits the format.
        report: The report of the same document. If it has errors afterwards, the contract is not valid.
        unread: The columns that the content lacks.
    """
    builder = _Builder(report)
    columns = builder.columns.struct(data["columns"], ("columns",), ())
    document = report.document
    if unread is None:
        outline = Outline.of(document, cast("Sequence", node_at(document, ("columns",))))
        unread = UnreadColumns(Columns(), Columns(), outline)
    else:
        columns = Struct((*unread.before.fields, *columns.fields, *unread.after.fields))
    dropped_features = [_dropped_feature(entry) for entry in data.get("drop_features", [])]
    targets = {
        name: builder.target(name, target, columns) for name, target in data.get("targets", {}).items()
    }
    setting = data.get("managed_by", "schemalint")
    managed_by: native.ManagedBy = {"tool": setting} if isinstance(setting, str) else setting
    return contract.Contract(
        table=read_table_name(data["table"], ("table",), report),
        state=builder.state(data, columns),
        location=data.get("location"),
        owner=data.get("owner"),
        managed_by=managed_by["tool"],
        managed_how=managed_by.get("how", "alter"),
        on_column_change=managed_by.get("on_column_change"),
        drop_features=frozenset(name for name, _truncates in dropped_features),
        truncated_features=frozenset(name for name, truncates in dropped_features if truncates),
        protocol=contract.ProtocolLimits(**data.get("protocol", {})),
        open=contract.WriterPermissions(**data.get("open", {})),
        targets=targets,
        consumers=builder.consumers(data.get("consumers", []), ("consumers",), columns),
        named_consumers=_names(data.get("consumers", [])),
        exceptions=tuple(
            read_exception(exception, ("allow", index), report, columns)
            for index, exception in enumerate(data.get("allow", []))
        ),
        deprecated={
            **unread.before.deprecated,
            **builder.columns.deprecated,
            **unread.after.deprecated,
        },
        backfills=_located(
            {**unread.before.backfills, **builder.columns.backfills, **unread.after.backfills}, columns
        ),
        rewrites=Rewrites(
            builder.columns.rewrites,
            tuple(data["rewrite"]["from"]["partitioned_by"]) if "rewrite" in data else None,
        ),
        file=document.file,
        document_index=document.index,
        anchors=_anchors(document, targets, unread.outline, columns) if not report.errors else {},
    )


def _located(
    backfills: MappingType[Path, contract.Backfill], columns: Struct
) -> MappingType[Path, contract.Backfill]:
    """Tell names from parts of arrays and maps in the sources, now that all columns are known."""
    return {
        path: replace(backfill, source=_path(backfill.source, columns))
        for path, backfill in backfills.items()
    }


def _path(path: Path, columns: Struct) -> Path:
    return path_of_names(columns, tuple(str(getattr(step, "value", step)) for step in path))[0]


def _anchors(document: Document, targets: Iterable[str], outline: Outline, columns: Struct) -> TextAnchors:
    settings, spans = setting_spans(document, targets), ColumnSpans(document, outline, columns)
    return TextAnchors(document.file, document.text, settings, spans)


class _Builder:
    def __init__(self, report: Report) -> None:
        self._report = report
        self.columns = ColumnReader(report)

    def state(self, data: native.Contract, columns: Struct) -> table.TableState:
        return table.TableState(
            columns=columns,
            description=data.get("description", UNMANAGED),
            partitioned_by=tuple(data["partitioned_by"]) if "partitioned_by" in data else UNMANAGED,
            clustered_by=(
                tuple(self._paths(data["clustered_by"], ("clustered_by",), columns))
                if "clustered_by" in data
                else UNMANAGED
            ),
            constraints=read_names(data.get("constraints", {}), ("constraints",), self._report, str.lower),
            properties=self._properties(("properties",)),
            features=_features(data.get("features", [])),
            dropped=tuple(
                self._deletion(entry, ("dropped", index), columns)
                for index, entry in enumerate(data.get("dropped", []))
            ),
        )

    def target(self, name: str, target: native.Target, columns: Struct) -> contract.TargetOverlay:
        yaml_path = ("targets", name)
        return contract.TargetOverlay(
            location=target.get("location"),
            absent=target.get("absent", False),
            properties=self._properties((*yaml_path, "properties")),
            features=_features(target["features"]) if "features" in target else None,
            protocol=contract.ProtocolLimits(**target["protocol"]) if "protocol" in target else None,
            consumers=self.consumers(target.get("consumers", []), (*yaml_path, "consumers"), columns),
            named_consumers=_names(target.get("consumers", [])),
        )

    def consumers(
        self, items: list[str | native.Consumer], yaml_path: YamlPath, columns: Struct
    ) -> tuple[Consumer, ...]:
        first: dict[str, int] = {}
        for index, consumer in enumerate(items):
            name = consumer if isinstance(consumer, str) else consumer["name"]
            if first.setdefault(name, index) != index:
                where = (*yaml_path, index) if isinstance(consumer, str) else (*yaml_path, index, "name")
                self._report.at_value(
                    where, f'the consumer "{name}" is listed twice', "remove one of the two"
                )
        return tuple(
            self._consumer(consumer, (*yaml_path, index), columns)
            for index, consumer in enumerate(items)
            if not isinstance(consumer, str)
        )

    def _consumer(self, data: native.Consumer, yaml_path: YamlPath, columns: Struct) -> Consumer:
        stream = declared_stream(data["stream"]) if "stream" in data else None
        for path, message in stream_faults(stream):
            self._report.at_value((*yaml_path, "stream", *path), f'"{path[-1]}" {message}')
        return Consumer(
            name=data["name"],
            client=data.get("client"),
            version=data.get("version"),
            read_path=data.get("read_path"),
            access=data.get("access", "read"),
            columns=tuple(self._paths(data.get("columns", []), (*yaml_path, "columns"), columns)),
            owner=data.get("owner"),
            cdf=data.get("cdf", False),
            stream=stream,
        )

    def _deletion(self, entry: str | native.Dropped, yaml_path: YamlPath, columns: Struct) -> table.Deletion:
        if isinstance(entry, str):
            return table.Deletion(read_path(entry, yaml_path, self._report, columns))
        path = read_path(entry["column"], (*yaml_path, "column"), self._report, columns)
        type_ = self.columns.type_at(entry["type"], (*yaml_path, "type")) if "type" in entry else None
        return table.Deletion(path, type_)

    def _paths(self, texts: list[str], yaml_path: YamlPath, columns: Struct) -> Iterator[Path]:
        for index, text in enumerate(texts):
            yield read_path(text, (*yaml_path, index), self._report, columns)

    def _properties(self, yaml_path: YamlPath) -> dict[str, str | None]:
        node = node_at(self._report.document, yaml_path)
        entries = node.entries if isinstance(node, Mapping) else ()
        values = {entry.key.text: _stored(entry.value) for entry in entries}
        return read_names(values, yaml_path, self._report, properties.canonical)


def _names(consumers: list[str | native.Consumer]) -> tuple[str, ...]:
    return tuple(consumer for consumer in consumers if isinstance(consumer, str))


def _features(names: list[str]) -> frozenset[str]:
    return frozenset(map(canonical, names))


def _dropped_feature(entry: str | native.DroppedFeature) -> tuple[str, bool]:
    """Return the name of a feature to drop, and whether its drop truncates the history."""
    if isinstance(entry, str):
        return canonical(entry), False
    return canonical(entry["feature"]), entry.get("truncate_history", False)


def _stored(value: Node) -> str | None:
    """Return the text that Delta stores: numbers keep their spelling, for example ``1.10``."""
    if not isinstance(value, Scalar) or value.value is None:
        return None
    if isinstance(value.value, bool):
        return str(value.value).lower()
    return value.text
