"""Texts that try to get obeyed, and what the services that read an output would obey in it."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

WORD = "evil"
"""Every attack contains this word: an output without it shows none of them."""

TERMINAL = {
    "clear the screen": "\x1b[2Jevil",
    "hide": "\x1b[8mevil\x1b[0m",
    "color": "\x1b[31mevil\x1b[0m",
    "link": "\x1b]8;;http://example.com\x07evil",
    "one-byte escape": "\x9b2Jevil",
    "overwrite": "evil\rgood\x08\x08",
    "new line": "x\n0 findings in 9 tables evil",
    "other line ends": "evil\x85\u2028\u2029\x0b\x0c",
    "turn": "\u202eevil\u202c \u2066evil\u2069 \u200fevil",
    "zero width": "ev\u200bil\u200d\u2060\ufeff evil\xad",
    "invisible letters": "\u3164\u115f\uffa0\u034f\u2800evil",
    "variation selectors": "evil\ufe0f\U000e0101 \u26a0\ufe0f\ufe0f \u2800\ufe0f \u26a0\ufe0e",
    "tags": "evil\U000e0041",
    "bytes that are not UTF-8": "evil\udcff",
    "lone surrogate": "evil\ud800",
    "null": "evil\x00",
}
CI = {
    "GitHub": "::error::evil",
    "GitHub, indented": "   ::add-mask::evil",
    "GitHub, after a wide blank": " \u3000::error::evil",
    "GitHub, in a line": "x\n::stop-commands::evil",
    "GitHub, old": "a ##[error]evil",
    "GitHub, ignored characters": "##\u200d[error]evil ##\ufe0f[error]evil",
    "GitHub, ignored characters at the start": ":\u034f:error::evil",
    "GitHub, three signs": "###[group]evil",
    "GitHub, with a color that click removes": "#\x1b[1m#[error]evil",
    "Azure": "##vso[task.setvariable variable=evil]x",
    "Azure, format": "##[section]evil",
    "GitLab": "\x1b[0Ksection_start:1560896352:evil[collapsed=true]\r\x1b[0Kx",
    "GitLab, name alone": "section_end:1560896352:evil",
    "TeamCity": "##teamcity[buildStatus text='evil']",
    "annotation": "evil%0A::error::x%25,title=x::y",
}
MARKUP = {
    "table cell": "evil | x |\n| --- |",
    "code": "`evil` ``` \n```\n# evil",
    "link": "[evil](http://example.com) ![evil](x) <http://x.example> https://evil.example www.evil.example",
    "mention": "@evil #1 !1 GH-1 evil@example.com 0123456789abcdef0123456789abcdef01234567",
    "HTML": "</code></details><img src=x onerror=evil> <!-- evil",
    "entity": "&lt;evil&gt; &#64;evil",
}
SQL = {
    "statement": "evil'; DROP TABLE t; --",
    "comment": "x\nDROP TABLE evil",
    "end of comment": "evil \\",
    "variable": "${evil} ${system:user.home}",
    "quotes": "evil ` `` \" '' */ /*",
}
ATTACKS = {
    f"{kind}: {name}": text
    for kind, texts in (("terminal", TERMINAL), ("CI", CI), ("markup", MARKUP), ("SQL", SQL))
    for name, text in texts.items()
}

CREDENTIAL = "hunter2secret"
"""The secret part of every URI below."""

URIS = {
    "password": f"https://user:{CREDENTIAL}@host/path",
    "token as user": f"https://{CREDENTIAL}@github.com/a/b.git",
    "password with a slash": f"s3a://AKIA1:a/{CREDENTIAL}/b@bucket/t",
    "password with an at sign": f"ftp://u:a@{CREDENTIAL}@host/t",
    "password of a container": f"abfss://container:{CREDENTIAL}@account.dfs.core.windows.net/t",
    "SAS": f"https://a.blob.core.windows.net/c/t?sv=2024-01-01&se=2027&sig={CREDENTIAL}%3D",
    "AWS 4": f"https://b.s3.amazonaws.com/t?X-Amz-Credential={CREDENTIAL}&X-Amz-Signature={CREDENTIAL}",
    "AWS 2": f"https://b.s3.amazonaws.com/t?AWSAccessKeyId={CREDENTIAL}&Signature={CREDENTIAL}",
    "Google": f"https://storage.googleapis.com/b/t?X-Goog-Signature={CREDENTIAL}",
    "token": f"https://host/t?a=1&access_token={CREDENTIAL}#x",
    "Connect": f"sc://host:443/;use_ssl=true;token={CREDENTIAL};user_id=me",
    "JDBC": f"jdbc:sqlserver://host;user=sa;password={CREDENTIAL};",
    "connection string": f"AccountName=a;AccountKey={CREDENTIAL}==;EndpointSuffix=core.windows.net",
    "header": f"Authorization: Bearer {CREDENTIAL}",
    "header with two blanks": f"authorization: Bearer  {CREDENTIAL}",
    "header with another scheme": f"Authorization: token {CREDENTIAL}",
    "header of AWS 4": f"Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature={CREDENTIAL}",
    "fragment": f"https://host/t#access_token={CREDENTIAL}",
    "headers of a library": f"{{'Authorization': 'Basic {CREDENTIAL}'}}",
    "path of a request": f"GET /b/t?X-Amz-Signature={CREDENTIAL} failed",
}

# Unicode, Default_Ignorable_Code_Point, as far as the characters are no control or format characters.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_EMOJI = re.compile("[\u26a0\u2705\u2764\U0001f000-\U0001faff]\ufe0f")
_NOT_IN_YAML = {*map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF))}
_STYLE = re.compile("\x1b\\[(?:0|1|3[1-6])m")

_COMMANDS = frozenset(
    {"error", "warning", "notice", "debug", "group", "endgroup", "section"}
    | {"add-mask", "set-output", "stop-commands", "add-matcher"}
)


def quoted(text: str) -> str:
    """Quote a text for YAML and TOML; what both allow stays, so that excerpts of the file show it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(char):04x}" if char in _NOT_IN_YAML else char for char in escaped) + '"'


class Command(NamedTuple):
    """A workflow command that GitHub's runner finds in a line."""

    name: str
    properties: dict[str, str]
    data: str


def runner_reads(line: str) -> Command | None:
    """Return the command in a line as actions/runner's ActionCommand.cs does: TryParseV2, then TryParse."""
    stripped = line.lstrip()
    if match := re.match(r"::(\S+?)(?: (.*?))?::(.*)", stripped, re.DOTALL):
        name, properties, data = match.groups()
        if name in _COMMANDS:
            pairs = (pair.split("=", 1) for pair in (properties or "").split(",") if "=" in pair)
            values = {key: _unescaped(value, "\r \n : , %") for key, value in pairs}
            return Command(name, values, _unescaped(data, "\r \n %"))
    if match := re.search(r"##(?:vso)?\[([^\] ]*)[^\]]*\](.*)", line, re.DOTALL):
        return Command(match[1], {}, match[2])
    return None


def lines_of(text: str) -> list[str]:
    """Split a text into lines as the runner does."""
    return re.split(r"\r\n|\r|\n", text.removesuffix("\n"))


def obeyed(text: str, *, styled: bool = False, annotations: bool = False) -> list[str]:
    """Return the lines of an output that a terminal or a CI service would obey, or that hide something.

    Args:
        text: The output.
        styled: Whether the output has schemalint's own colors.
        annotations: Whether the output consists of annotations for GitHub.
    """
    text = _STYLE.sub("", text) if styled else text
    return [line for line in text.split("\n") if _is_obeyed(line, annotations=annotations)]


def _is_obeyed(plain: str, *, annotations: bool) -> bool:
    command = runner_reads(plain)
    return bool(
        [char for char in plain if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
        or _IGNORABLE.search(_EMOJI.sub("", plain))
        or (command and not (annotations and command.name in ("error", "warning", "notice")))
        or re.search(r"##(?:vso|teamcity)?\[|section_(?:start|end):\d", plain)
        or plain.lstrip().startswith("0 findings in 9 tables")
    )


def _unescaped(text: str, characters: str) -> str:
    for character in characters.split(" "):
        text = text.replace(f"%{ord(character):02X}", character)
    return text
