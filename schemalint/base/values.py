"""Frozen value classes: like ``dataclass(frozen=True, slots=True)``, at a fraction of its import time.

A check loads about 240 value classes, and creates a handful of instances of most. `dataclasses` compiles six
methods for each class; `frozen` compiles only ``__init__``, and only for a class with many instances.
Instances of different classes are never equal.
"""

from __future__ import annotations

from functools import cached_property
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from dataclasses import field as field  # noqa: PLC0414 (mypy checks the calls by its own plug-in)
    from dataclasses import replace as replace  # noqa: PLC0414
else:

    def field(**options: Any) -> _Field:  # noqa: ANN401
        """Specify a field with ``default``, ``default_factory``, ``compare=False`` or ``repr=False``."""
        return _Field(**options)

    def replace(value: T, /, **changes: Any) -> T:  # noqa: ANN401
        """Return a copy of the value with some fields changed."""
        kept = {name: getattr(value, name) for name in value.__match_args__ if name not in changes}
        return value.__class__(**kept, **changes)


T = TypeVar("T")
K = TypeVar("K")

_MISSING: Final = object()


class _Field:
    __slots__ = ("compare", "default", "factory", "repr")

    def __init__(
        self,
        *,
        default: object = _MISSING,
        default_factory: Any = _MISSING,  # noqa: ANN401 (a function, or nothing)
        compare: bool = True,
        repr: bool = True,  # noqa: A002 (as dataclasses name it)
    ) -> None:
        self.default = default
        self.factory = default_factory
        self.compare = compare
        self.repr = repr


class Itself(Generic[T]):
    """A value as a key that equals only itself: to hash and compare all fields of a large one takes long."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Aside(Generic[T]):
    """An argument that is no part of a cache's key, as it does not change the result: it equals any other."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aside)

    def __hash__(self) -> int:
        return 0


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, tuple[T, ...]]:
    """Return the values of each key, in their order."""
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def as_dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    """Return the fields of a value by name, in declaration order."""
    return {name: getattr(value, name) for name in value.__match_args__}


def changed_fields(value: Any) -> dict[str, Any]:  # noqa: ANN401 (of any kind)
    """Return the fields that differ from their ``default``, by name.

    A field without ``default`` is always included, even if it has a ``default_factory``.
    """
    fields: dict[str, _Field] = value.__value_fields__
    return {name: content for name, content in as_dict(value).items() if content != fields[name].default}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a frozen value class; its annotations are the fields, in order.

    Instances have slots and support positional patterns. Two instances are equal if they have the same class
    and equal fields; an instance is hashable if all its fields are. The fields of a value class that it
    extends come first. A ``cached_property`` is computed once per instance; it is no field.
    """
    namespace = cls.__dict__
    own = tuple(
        name for name, annotation in cls.__annotations__.items() if not annotation.startswith("ClassVar")
    )
    fields = {**getattr(cls, "__value_fields__", {})}
    fields |= {name: _field(namespace.get(name, _MISSING)) for name in own}
    names = tuple(fields)
    members = {k: v for k, v in namespace.items() if k not in fields and k not in _INSTANCE_SLOTS}
    caches = any(isinstance(member, cached_property) for member in members.values())
    compared = _getter([name for name in names if fields[name].compare])
    names_in_repr = [name for name in names if fields[name].repr]

    instances = count(1)

    def __init__(self: T, *args: object, **options: object) -> None:  # noqa: N807
        if next(instances) <= _FEW_INSTANCES and _initialize(self, fields, args, options):
            return
        value_class.__init__ = _initializer(value_class, fields)
        value_class.__init__(self, *args, **options)

    def __eq__(self: T, other: object) -> bool:  # noqa: N807
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: T) -> int:  # noqa: N807
        return hash(compared(self))

    def __repr__(self: T) -> str:  # noqa: N807
        contents = ", ".join(f"{name}={getattr(self, name)!r}" for name in names_in_repr)
        return f"{value_class.__qualname__}({contents})"

    def __reduce__(self: T) -> tuple[type[T], tuple[object, ...]]:  # noqa: N807
        return value_class, tuple(getattr(self, name) for name in names)

    methods = (__init__, __eq__, __hash__, __repr__, __reduce__)
    value_class: Any = type(
        cls.__name__,
        cls.__bases__,
        {
            # A cached property stores its value in the instance's dictionary.
            "__slots__": (*own, "__dict__") if caches else own,
            "__match_args__": names,
            "__value_fields__": fields,
            "__setattr__": _refuse,
            "__delattr__": _refuse,
            **{method.__name__: method for method in methods},
            **members,
        },
    )
    result: type[T] = value_class
    return result


# Descriptors that belong to the decorated class; the new class has slots instead.
_INSTANCE_SLOTS: Final = frozenset({"__dict__", "__weakref__"})


def _field(default: object) -> _Field:
    return default if isinstance(default, _Field) else _Field(default=default)


def _getter(names: list[str]) -> Callable[[Any], object]:
    return attrgetter(*names) if names else lambda _value: ()


def _refuse(self: object, name: str, *_value: object) -> NoReturn:
    raise AttributeError(f"{self.__class__.__name__}.{name}: values are frozen")


# Compiling takes as long as 50 instances without it. Of 108 classes of a check, 88 have at most 10 instances.
_FEW_INSTANCES: Final = 10


def _initialize(
    value: object, fields: dict[str, _Field], args: tuple[object, ...], options: dict[str, object]
) -> bool:
    """Store the fields of a new instance; return False for arguments that the compiled method refuses."""
    given = dict(zip(fields, args, strict=False))
    if len(given) < len(args) or not given.keys().isdisjoint(options):
        return False
    given |= options
    for name, field_ in fields.items():
        content = given.pop(name, field_.default)
        if content is _MISSING:
            if field_.factory is _MISSING:
                return False
            content = field_.factory()
        object.__setattr__(value, name, content)
    return not given


def _initializer(value_class: type, fields: dict[str, _Field]) -> Callable[..., None]:
    """Compile ``__init__`` with the fields as parameters; it stores through the slots, past `_refuse`."""
    scope: dict[str, Any] = {"_missing": _MISSING}
    parameters, lines = ["self"], ["    pass"]
    for name, field_ in fields.items():
        scope[f"_set_{name}"] = getattr(value_class, name).__set__
        if field_.factory is not _MISSING:
            scope[f"_new_{name}"] = field_.factory
            parameters.append(f"{name}=_missing")
            lines.append(f"    _set_{name}(self, _new_{name}() if {name} is _missing else {name})")
            continue
        if field_.default is not _MISSING:
            scope[f"_default_{name}"] = field_.default
        parameters.append(name if field_.default is _MISSING else f"{name}=_default_{name}")
        lines.append(f"    _set_{name}(self, {name})")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines]), scope)  # noqa: S102 (names of fields)
    initializer: Callable[..., None] = scope["__init__"]
    return initializer
