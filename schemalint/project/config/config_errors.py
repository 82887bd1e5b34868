"""Explain what is wrong with a configuration that does not fit its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, get_args

from pydantic import TypeAdapter, ValidationError

from schemalint.base.document.shape import fields, hint_at, is_mapping
from schemalint.base.errors import ConfigError
from schemalint.project.config.toml_text import find_option, locate


def refuse(file: str, text: str, content: Mapping[str, Any], keys_of: type, entry: type) -> None:
    """Raise the first error that pydantic finds; pydantic may accept what `check_for` rejects.

    Args:
        file: The path of the file.
        text: Its text.
        content: The settings in it.
        keys_of: The keys of a configuration.
        entry: The keys of an entry of ``contracts``, which pydantic names within a path.

    Raises:
        ConfigError: A key is unknown or missing, or a value has the wrong type.
    """
    try:
        TypeAdapter(keys_of).validate_python(content)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=True)
    else:
        return
    # Of an entry that is no text, pydantic says first that it is no text.
    of_member = (each for each in problems if "str" not in each["loc"] or not isinstance(each["input"], dict))
    problem = next(of_member, problems[0])
    path = [str(step) for step in problem["loc"] if step not in ("str", entry.__name__)]
    key, location = (
        ".".join(path),
        locate(file, text, [step for step in problem["loc"] if isinstance(step, str)]),
    )
    _refuse_option(file, text, content, path)
    if problem["type"] == "missing":
        raise ConfigError(f"{key} is missing", help="add it", location=location)
    if problem["type"] != "extra_forbidden":
        expected = problem["msg"].removeprefix("Input should be ")
        words, help_text = _EXPECTED.get(problem["type"], (expected, ""))
        if problem["type"] == "list_type" and is_mapping(hint_at(keys_of, (*path, 0))):
            help_text = "write [[{key}]] above each of its entries"
        raise ConfigError(f"{key} must be {words}", help=help_text.format(key=key), location=location)
    keys = sorted(_known_keys(keys_of, path[:-1]))
    close = get_close_matches(path[-1], keys, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(keys)}"
    raise ConfigError(f"unknown key {key}", help=hint, location=location)


def _refuse_option(file: str, text: str, content: Mapping[str, Any], path: Sequence[str]) -> None:
    """Raise an error if the path leads to a rule's option: its value is of a kind that no rule has.

    Of a value that fits none of its types, pydantic says what each of them asks for.
    """
    keys: tuple[str, ...]
    match path:
        case ["options", code, name, *_]:
            keys, table = ("options", code, name), None
        case ["tables", number, "options", code, name, *_]:
            keys = ("tables", "options", code, name)
            table = str(content["tables"][int(number)].get("match"))
        case _:
            return
    raise ConfigError(
        f"{'.'.join(keys)} must be a text, a number, true or false, a list of texts, or a table of these",
        location=find_option([(file, text)], keys, "", table) or locate(file, text, keys),
    )


_EXPECTED: Final = {
    "string_type": ("text", 'write it in quotes: "…"'),
    "list_type": ("a list", 'write {key} = ["…"]'),
    "dict_type": ("a table", "write [{key}], and its keys below"),
    "typed_dict_type": ("a table", "write [{key}], and its keys below"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "int_type": ("a whole number", "write it without quotes"),
}
"""What a value must be, in the words of TOML, and help, by the type of pydantic's error."""


def _known_keys(keys_of: type, path: list[str]) -> list[str]:
    section = hint_at(keys_of, tuple(path))
    members = get_args(section) or (section,)
    return [key for member in members if is_mapping(member) for key in fields(member)]
