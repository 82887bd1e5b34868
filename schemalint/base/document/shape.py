"""Check whether data fits a TypedDict, without pydantic; pydantic accepts all data that passes here.

Importing pydantic costs more than the rest of a check, so pydantic is used only for data that fails here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Check: TypeAlias = Callable[[Any], bool]


@cache
def check_for(hint: Any) -> Check:  # noqa: ANN401 - a type hint has no type of its own
    """Return the check for a type hint."""
    if is_mapping(hint):
        return _Mapping(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        return lambda value: type(value) is hint
    if origin is Literal:
        return lambda value: value in args
    if origin in (Union, UnionType):
        checks = tuple(check_for(arg) for arg in args)
        return lambda value: any(check(value) for check in checks)
    check_item = check_for(args[-1])
    if origin is list:
        return lambda value: type(value) is list and all(map(check_item, value))
    return lambda value: type(value) is dict and all(map(check_item, value.values()))


def is_mapping(hint: Any) -> bool:  # noqa: ANN401 - as above
    """Whether a hint is a TypedDict of ``typing`` or ``typing_extensions``."""
    return hasattr(hint, "__required_keys__")


@cache
def fields(typed_dict: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the type hints of a TypedDict by key."""
    return get_type_hints(typed_dict)


def hint_at(hint: Any, path: tuple[str | int, ...]) -> Any | None:  # noqa: ANN401 - as above
    """Return the TypedDict or other type at a path of keys and item indexes."""
    for step in path:
        hint = _below(hint, step)
    return hint


class _Mapping:
    def __init__(self, typed_dict: Any) -> None:  # noqa: ANN401 - as above
        self._typed_dict = typed_dict
        self._required = frozenset(typed_dict.__required_keys__)
        self._checks: dict[str, Check] = {}

    def __call__(self, value: Any) -> bool:  # noqa: ANN401 - any data is checked
        if type(value) is not dict or not self._required <= value.keys():
            return False
        # Created on first use, because the type of a column is recursive.
        checks = self._checks = self._checks or {
            key: check_for(hint) for key, hint in fields(self._typed_dict).items()
        }
        for key, item in value.items():
            check = checks.get(key)
            if check is None or not check(item):
                return False
        return True


def _below(hint: Any, step: str | int) -> Any | None:  # noqa: ANN401 - as above
    if is_mapping(hint):
        return fields(hint).get(str(step))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (list, dict):
        return args[-1]
    if origin in (Union, UnionType):
        hints = (_below(arg, step) for arg in args)
        return next((member for member in hints if member is not None), None)
    return None
