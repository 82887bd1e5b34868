"""The structure of an expression that fills a column: its casts, its choices, and the rest as it is written.

sqlglot writes an expression anew when it prints a tree, and not always with the same meaning. What runs over
the data of a table keeps the text of its author, but for its casts. So this tree is cut from the tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias

from schemalint.base.values import frozen
from schemalint.delta.datatype import DataType, Decimal
from schemalint.delta.sql_text import Token, tokens_with_spans
from schemalint.delta.type_text import TypeTextError, parse_type, print_type

_CASTS: Final = frozenset({"cast", "try_cast"})
_DEEPEST: Final = 100
_CLOSING: Final = {"(": ")", "[": "]"}
_OPERATORS_OF_TRUTH: Final = frozenset({"and", "or", "not", "!"})
_NO_CALLS: Final = _OPERATORS_OF_TRUTH | {
    "in",
    "is",
    "between",
    "when",
    "then",
    "else",
    "like",
    "rlike",
    "as",
}


class UnreadableExpression(ValueError):  # noqa: N818 (raised and caught within two modules)
    """The tokens have no such structure; the message is the end of a sentence about the expression."""


@frozen
class Leaf:
    """A token, and the blanks after it; comments go."""

    token: Token
    text: str


@frozen
class Call:
    """A call, or brackets without a name.

    Attributes:
        name: The function in lower case; empty for brackets.
        opening: What stands before the first argument.
        arguments: The arguments; the only one of some functions has words in place of commas.
        closing: The closing bracket, and the blanks after it.
    """

    name: str
    opening: str
    arguments: tuple[Nodes, ...]
    closing: str


@frozen
class Cast:
    """A conversion that the expression asks for: ``cast``, ``try_cast`` or ``decimal(…)``."""

    operand: Nodes
    type: DataType
    after: str


@frozen
class Case:
    """``CASE … END``; `operand` is None without one, and `default` without ELSE."""

    operand: Nodes | None
    branches: tuple[tuple[Nodes, Nodes], ...]
    default: Nodes | None
    after: str


@frozen
class NullTest:
    """``… IS NULL`` or ``… IS NOT NULL``; `test` is the text of the words."""

    operand: Nodes
    test: str


Node: TypeAlias = Leaf | Call | Cast | Case | NullTest
Nodes: TypeAlias = tuple[Node, ...]


def fill_tree(text: str) -> Nodes:
    """Return the structure of an expression.

    Raises:
        UnreadableExpression: It has none, or names a type that is none.
    """
    parser = _Parser(text)
    nodes = parser.nodes(frozenset(), 0)
    if parser.is_over and nodes:
        return nodes
    raise UnreadableExpression("cannot be parsed")


def written(nodes: Nodes, *, with_types: bool = True) -> str:
    """Return the text of nodes; without types, each cast is one to string."""
    return "".join(_written(node, with_types=with_types) for node in nodes)


def walk_nodes(nodes: Nodes) -> Iterator[Node]:
    """Yield all nodes, each before those inside it."""
    for node in nodes:
        yield node
        for inner in parts_of(node):
            yield from walk_nodes(inner)


def parts_of(node: Node) -> tuple[Nodes, ...]:
    """Return the expressions inside a node."""
    match node:
        case Leaf():
            return ()
        case Call(arguments=arguments):
            return arguments
        case Cast(operand=operand) | NullTest(operand=operand):
            return (operand,)
        case Case():
            branches = [part for branch in node.branches for part in branch]
            return tuple(part for part in (node.operand, *branches, node.default) if part is not None)


def tokens_of(nodes: Nodes) -> Iterator[Token]:
    """Yield the tokens outside of types and of the words of calls and casts."""
    for node in walk_nodes(nodes):
        if isinstance(node, Leaf):
            yield node.token


def without_brackets(nodes: Nodes) -> Nodes:
    """Return the expression inside brackets around all of it."""
    while len(nodes) == 1 and isinstance(call := nodes[0], Call) and not call.name:
        if call.opening[0] != "(" or len(call.arguments) != 1:
            break
        (nodes,) = call.arguments
    return nodes


def _written(node: Node, *, with_types: bool) -> str:
    inner = partial(written, with_types=with_types)
    match node:
        case Leaf(text=text):
            return text
        case Call():
            return f"{node.opening}{','.join(map(inner, node.arguments))}{node.closing}"
        case Cast():
            type_text = print_type(node.type) if with_types else "string"
            return f"cast({inner(node.operand).rstrip()} as {type_text}){node.after}"
        case NullTest():
            return f"{inner(node.operand)}{node.test}"
        case Case():
            return case_text(node, inner)


def case_text(node: Case, text: Callable[[Nodes], str]) -> str:
    """Return the text of a CASE whose parts have these texts."""
    parts = ["CASE"] if node.operand is None else [f"CASE {text(node.operand).rstrip()}"]
    for when, then in node.branches:
        parts.append(f"WHEN {text(when).rstrip()} THEN {text(then).rstrip()}")
    if node.default is not None:
        parts.append(f"ELSE {text(node.default).rstrip()}")
    return f"{' '.join(parts)} END{node.after}"


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_with_spans(text)
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at == len(self._tokens)

    def nodes(self, stops: frozenset[str], depth: int) -> Nodes:
        """Read until a comma, a closing bracket, or one of these words."""
        if depth > _DEEPEST:
            raise UnreadableExpression(f"is nested in more than {_DEEPEST} levels")
        nodes: list[Node] = []
        while not self.is_over:
            token = self._token
            word = token.text.lower() if token.kind == "word" else ""
            is_name = bool(nodes) and isinstance(last := nodes[-1], Leaf) and last.token.text == "."
            if token.kind == "close" or token.text == "," or (word in stops and not is_name):
                break
            if word == "is" and (length := self._length_of_null_test()):
                nodes = self._null_test(nodes, length)
            elif word == "case" and not is_name:
                nodes.append(self._case(depth))
            elif token.kind == "open":
                nodes.append(self._call("", self._take(), depth))
            elif self._next_is("(") and not is_name and word in _CASTS:
                nodes.append(self._cast(depth))
            elif self._next_is("(") and token.kind in {"word", "name"} and word not in _NO_CALLS:
                nodes.append(self._call(token.name.lower(), self._take() + self._take(), depth))
            else:
                nodes.append(Leaf(token, self._take()))
        return tuple(nodes)

    @property
    def _token(self) -> Token:
        return self._tokens[self._at][0]

    def _next_is(self, text: str, ahead: int = 1) -> bool:
        at = self._at + ahead
        return at < len(self._tokens) and self._tokens[at][0].text.lower() == text

    def _take(self) -> str:
        """Take a token; return its text with the blanks up to the next one, and a blank for comments."""
        token, _start, end = self._tokens[self._at]
        self._at += 1
        gap = "" if self.is_over else self._text[end : self._tokens[self._at][1]]
        return token.text + (" " if gap.strip() else gap)

    def _expect(self, text: str) -> str:
        if self.is_over or self._token.text.lower() != text:
            raise UnreadableExpression("cannot be parsed")
        return self._take()

    def _call(self, name: str, opening: str, depth: int) -> Node:
        closing = _CLOSING["[" if not name and opening[0] == "[" else "("]
        arguments: list[Nodes] = []
        while not self.is_over and self._token.kind != "close":
            arguments.append(self.nodes(frozenset(), depth + 1))
            if not self.is_over and self._token.text == ",":
                self._take()
        after = self._expect(closing)
        if name == "decimal" and len(arguments) == 1:  # Spark's function is a cast to decimal(10,0)
            return Cast(arguments[0], Decimal(), after[1:])
        return Call(name, opening, tuple(arguments), after)

    def _cast(self, depth: int) -> Cast:
        self._take()
        self._take()
        operand = self.nodes(frozenset({"as"}), depth + 1)
        self._expect("as")
        start, opened = self._at, 0
        while not self.is_over and (opened or self._token.kind != "close"):
            opened += {"open": 1, "close": -1}.get(self._token.kind, 0)
            self._take()
        type_text = " ".join(self._text[begin:end] for _token, begin, end in self._tokens[start : self._at])
        after = self._expect(")")
        try:
            return Cast(operand, parse_type(type_text), after[1:])
        except TypeTextError as error:
            raise UnreadableExpression(f"casts to {type_text}: {error.message}") from None

    def _case(self, depth: int) -> Case:
        self._take()
        when, then, end = frozenset({"when"}), frozenset({"then"}), frozenset({"when", "else", "end"})
        operand = self.nodes(when, depth + 1) or None
        branches: list[tuple[Nodes, Nodes]] = []
        while not self.is_over and self._token.text.lower() == "when":
            self._take()
            condition = self.nodes(then, depth + 1)
            self._expect("then")
            branches.append((condition, self.nodes(end, depth + 1)))
        default = None
        if not self.is_over and self._token.text.lower() == "else":
            self._take()
            default = self.nodes(end, depth + 1)
        if not branches:
            raise UnreadableExpression("cannot be parsed")
        return Case(operand, tuple(branches), default, self._expect("end")[len("end") :])

    def _length_of_null_test(self) -> int:
        """Return the number of words from IS to NULL; 0 for another test."""
        if self._next_is("null"):
            return 2
        return 3 if self._next_is("not") and self._next_is("null", 2) else 0

    def _null_test(self, nodes: list[Node], length: int) -> list[Node]:
        """Take the words, and put what they test under them: Spark binds IS weaker than comparisons."""
        start = len(nodes)
        while start and not _is_operator_of_truth(nodes[start - 1]):
            start -= 1
        test = "".join(self._take() for _word in range(length))
        return [*nodes[:start], NullTest(tuple(nodes[start:]), test)]


def _is_operator_of_truth(node: Node) -> bool:
    return isinstance(node, Leaf) and node.token.text.lower() in _OPERATORS_OF_TRUTH
