"""Elements of the HTML page. Text only ever becomes text: `html_text` escapes all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias
from xml.etree.ElementTree import Element

Child: TypeAlias = "Element | str | None"


def h(tag: str, *children: Child, **attributes: str) -> Element:
    """Return an element; ``class_`` is its class, and an underscore in a name a hyphen."""
    element = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for child in children:
        add(element, child)
    return element


def add(element: Element, child: Child) -> None:
    """Append a text or an element."""
    if child is None:
        return
    if isinstance(child, Element):
        element.append(child)
    elif len(element):
        element[-1].tail = (element[-1].tail or "") + child
    else:
        element.text = (element.text or "") + child


def badge(text: str, kind: str) -> Element:
    """Return a short label; the text says what the color says."""
    return h("span", text, class_=f"badge {kind}")


def grid(head: Iterable[str], rows: Iterable[Element], caption: str, class_: str = "list") -> Element:
    """Return a table with a caption for those who do not see it."""
    cells = [h("th", title, scope="col") for title in head]
    return h(
        "table",
        h("caption", caption),
        h("thead", h("tr", *cells)),
        h("tbody", *rows),
        class_=class_,
    )
