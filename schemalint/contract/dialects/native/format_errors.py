"""Report the errors in data that does not fit the native format, in the terms of the format.

Only invalid contracts are checked here, because importing pydantic costs more than the rest of a check.
"""

from __future__ import annotations

import difflib
import functools
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from schemalint.base.document import Path as YamlPath
from schemalint.base.document import Scalar, node_at, print_scalar
from schemalint.base.document.shape import fields, hint_at, is_mapping
from schemalint.contract.dialects.native import format as native
from schemalint.contract.dialects.native.faults import Report
from schemalint.contract.dialects.native.other_words import ADVICE, KEYS, NOT_NULL

_KINDS: Final[dict[object, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    NoneType: "null",
}


def report_problems(data: Any, report: Report, root: Any) -> None:  # noqa: ANN401 - any data
    """Report everything that pydantic refuses, each error once.

    pydantic has three kinds of errors here: ``missing``, ``extra_forbidden``, and a value of the wrong type.
    For a union it reports the latter once per member, so the expected type is taken from the format instead.
    """
    try:
        _adapter(root).validate_python(data)
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False, include_context=False)
    else:
        return
    located = [(error["type"], _path(data, error["loc"]), str(error["loc"][-1])) for error in errors]
    missing = {(path, key) for kind, path, key in located if kind == "missing"}
    unknown = {path for kind, path, _ in located if kind == "extra_forbidden"}
    wrong = {path for kind, path, _ in located if kind not in ("missing", "extra_forbidden")}
    misspelt = {(path[:-1], _nearest(str(path[-1]), path[:-1], root)) for path in unknown}
    for path in _short_columns(data, unknown, root):
        unknown.discard(path)
        missing = {(at, key) for at, key in missing if at != path[:-1]}
        name, type_ = str(path[-1]).removeprefix("name").strip(), _at(data, path)
        message = f'a column needs "name" and "type", not "{path[-1]}"'
        report.at_key(path, message, f"write name: {name} and type: {type_ or '…'}, each with its own line")
    for path, key in missing - misspelt:
        report.in_mapping(path, f'"{key}" is missing in {_noun(path, root)}')
    for path in unknown:
        _report_unknown(path, report, root)
    incomplete = {path for path, _ in missing}
    parents = {path[:length] for path in unknown | wrong | incomplete for length in range(len(path))}
    for path in wrong - parents - incomplete:
        _report_wrong(path, _at(data, path), report, root)


@functools.cache
def _adapter(root: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type
    """Return pydantic's reader of a format, which takes longer to make than a contract to read."""
    return TypeAdapter(root)


def _short_columns(data: Any, unknown: set[YamlPath], root: Any) -> list[YamlPath]:  # noqa: ANN401 - as above
    """Return the paths of the only keys of columns that are written as ``- id: bigint``."""
    return [
        path
        for path in unknown
        if len(_at(data, path[:-1])) == 1
        and _mapping_type(path[:-1], root) is native.Column
        and not isinstance(_at(data, path), dict | list)
        and _nearest(_word(str(path[-1])), path[:-1], root) not in {"type", "comment"}
    ]


def _path(data: Any, loc: tuple[str | int, ...]) -> YamlPath:  # noqa: ANN401 - as above
    """Convert pydantic's ``loc`` to a path, without the names of union members and a missing key."""
    path: list[str | int] = []
    for step in loc:
        is_key = step in data if isinstance(data, dict) else isinstance(data, list) and isinstance(step, int)
        if is_key:
            path.append(step)
            data = data[step]
    return tuple(path)


def _at(data: Any, path: YamlPath) -> Any:  # noqa: ANN401 - as above
    for step in path:
        data = data[step]
    return data


def _report_unknown(path: YamlPath, report: Report, root: Any) -> None:  # noqa: ANN401 - as above
    key = str(path[-1])
    if key[:1].isspace():
        blank = f"U+{ord(key[0]):04X}"
        report.at_key(path, f"the line begins with {blank} instead of spaces", "indent it with spaces")
        return
    node = node_at(report.document, path)
    value = node.value if isinstance(node, Scalar) else None
    help_text = _key_help(key, value, path[:-1], root)
    report.at_key(path, f'unknown key "{key}" in {_noun(path[:-1], root)}', help_text)


def _key_help(key: str, value: object, parent: YamlPath, root: Any) -> str:  # noqa: ANN401 - as above
    mapping = _mapping_type(parent, root)
    if "nullable" in fields(mapping) and _word(key) in NOT_NULL and isinstance(value, bool):
        return f"write nullable: {str(not value).lower()}"
    if advice := ADVICE.get(mapping, {}).get(_word(key)):
        return advice
    owner = next((noun for typed_dict, noun in native.NOUNS.items() if key in fields(typed_dict)), None)
    nearest = _nearest(key, parent, root)
    if nearest:
        return f'did you mean "{nearest}"?'
    if owner:
        return f"it is a key of {owner}"
    return f"known keys: {', '.join(fields(mapping))}"


def _nearest(key: str, parent: YamlPath, root: Any) -> str | None:  # noqa: ANN401 - as above
    """Return the known key that was probably meant; None if it is a key of another mapping."""
    mapping = _mapping_type(parent, root)
    keys = list(fields(mapping))
    if meant := KEYS.get(mapping, {}).get(_word(key)):
        return meant
    if any(key in fields(typed_dict) for typed_dict in native.NOUNS):
        return None
    return next(iter(difflib.get_close_matches(_word(key), keys, n=1)), None)


def _word(key: str) -> str:
    return key.lower().replace("-", "_")


def _report_wrong(path: YamlPath, value: Any, report: Report, root: Any) -> None:  # noqa: ANN401 - as above
    hint = hint_at(root, path)
    name = f'"{path[-1]}"' if path and isinstance(path[-1], str) else "an entry" + _of(path)
    subject, actual = (name, _actual(value)) if path else ("a contract", "this")
    report.at_value(
        path, f"{subject} must be {_expected(hint)}, not {actual}", _wrong_help(hint, path, report)
    )


def _of(path: YamlPath) -> str:
    if len(path) > 1:
        return f' of "{path[-2]}"'
    return ""


def _expected(hint: Any) -> str:  # noqa: ANN401 - as above
    if is_mapping(hint):
        return _KINDS[dict]
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        return _KINDS[hint]
    if origin in (list, dict):
        return _KINDS[origin]
    if origin is Literal:
        kinds = [f'"{arg}"' for arg in args]
    else:
        kinds = [_expected(arg) for arg in args if arg is not int or float not in args]
    if len(kinds) > 1:
        return ", ".join(kinds[:-1]) + " or " + kinds[-1]
    return kinds[0]


def _actual(value: Any) -> str:  # noqa: ANN401 - as above
    match value:
        case dict() | list():
            return _KINDS[type(value)]
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case _:
            return str(value)


def _wrong_help(hint: Any, path: YamlPath, report: Report) -> str:  # noqa: ANN401 - as above
    node = node_at(report.document, path)
    members = _members(hint)
    kinds = {get_origin(member) or member for member in members}
    if not isinstance(node, Scalar):
        return _help_for_collection(kinds, path)
    if node.value is None:
        return "remove the line, or add a value"
    if str in kinds:
        return f"quote it: {print_scalar(node.text)}"
    if list in kinds:
        return f"write it as a list: [{print_scalar(node.text)}]"
    mapping = next((member for member in members if is_mapping(member)), None)
    if mapping is native.Part:
        return f'write "type: {node.text}" in a line of its own below "{path[-1]}:"'
    if mapping is not None:
        needed = [key for key in fields(mapping) if key in mapping.__required_keys__]
        return f"write its keys: {', '.join(needed or fields(mapping))}"
    if hint is bool and isinstance(node.value, str):
        return "write true or false without quotes; YAML 1.2 has no other booleans"
    return ""


def _help_for_collection(kinds: set[Any], path: YamlPath) -> str:
    if list in kinds:
        return 'write each entry in a line of its own that begins with "- "'
    if dict in kinds:
        return 'write each entry as "name: value", without a dash'
    if path[-1:] == ("type",):
        return 'write the fields or parts beside it: see "columns", "element", "key" and "value"'
    return ""


def _mapping_type(path: YamlPath, root: Any) -> Any:  # noqa: ANN401 - as above
    """Return the TypedDict at a path; for a union, its TypedDict member."""
    hint = hint_at(root, path)
    return next((member for member in _members(hint) if is_mapping(member)), hint)


def _members(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    if get_origin(hint) in (Union, UnionType):
        return get_args(hint)
    return (hint,)


def _noun(path: YamlPath, root: Any) -> str:  # noqa: ANN401 - as above
    return native.NOUNS[_mapping_type(path, root)]
