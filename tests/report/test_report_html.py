"""The HTML page: nothing of strangers is markup, and a real browser shows it as it should be."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from schemalint.cli import main
from schemalint.delta.datatype import INTEGER, LONG, STRING, Field
from schemalint.report.findings import html
from support.attack_texts import ATTACKS
from support.logs import add, commit_info, metadata, protocol, write_log
from support.npm import installed
from support.report_cases import ORDERS, all_cases, finding, location_of, result_of, run
from support.skipping import skip_or_fail

PLAYWRIGHT = "playwright-core@1.65.1"
PAGES = ("pull_request", "hostile_text", "errors_only", "inventory")
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "nav", "main", "footer", "section"),
    *(
        "article",
        "h1",
        "h2",
        "h3",
        "p",
        "dl",
        "div",
        "dt",
        "dd",
        "ul",
        "ol",
        "li",
        "table",
        "caption",
        "thead",
    ),
    *("tbody", "tr", "th", "td", "code", "pre", "span", "b", "abbr", "details", "summary"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "tabindex", "href", "aria-label"),
    *("role", "scope", "title"),
}

Json = dict[str, Any]


class Page(HTMLParser):
    """The tags, attributes and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.metas: dict[str, str] = {}
        self.css = ""
        self._is_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._is_style = tag == "style"
        found = {name: value or "" for name, value in attrs}
        self.attributes |= found.keys()
        self.links |= {value for name, value in found.items() if name in ("href", "src")}
        self.ids |= {value for name, value in found.items() if name == "id"}
        self.metas |= {found["http-equiv"]: found["content"]} if "http-equiv" in found else {}

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.css += data
            self._is_style = False


@pytest.mark.parametrize("case", all_cases())
def test_a_page_has_known_elements_and_leads_nowhere_else(case: str) -> None:
    page = Page(html.render(result_of(case), show_existing=True))
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.links <= {f"#{id_}" for id_ in page.ids}


def test_the_policy_allows_the_style_sheet_of_the_page_and_nothing_else() -> None:
    page = Page(html.render(result_of("clean")))
    digest = base64.b64encode(hashlib.sha256(page.css.encode()).digest()).decode()
    policy = page.metas["Content-Security-Policy"]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"url\(|@import|expression", page.css)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_text_wherever_it_stands(attack: str) -> None:
    text = f'{ATTACKS[attack]}</style><script>alert(1)</script><img src=x onerror="alert(1)">"\'&lt;'
    source = f"schemalint: 1\ntable: {text!r}\n"
    loud = finding(
        text, location_of(ORDERS, source, "table"), help=text, table=text, rule=text, old=text, new=text
    )
    page = Page(html.render(result_of("clean").__class__(run(text), (loud,), sources={ORDERS: source})))
    assert page.tags <= TAGS - {"script", "img"}
    assert page.attributes <= ATTRIBUTES


def test_both_schemas_stand_side_by_side() -> None:
    text = html.render(result_of("pull_request"))
    rows = re.findall(r'<tr class="(\w+)">(.*?)</tr>', text, re.DOTALL)
    found = {
        (kind, *re.findall(r'<code class="name depth\d">(.*?)</code>', row)): re.findall(
            r'<span class="type">(.*?)</span>', row
        )
        for kind, row in rows
    }
    assert found["changed", "amount", "amount"] == ["decimal(10,2)", "decimal(10,1)"]
    assert found["removed", "note"] == ["string"]
    assert found["added", "channel"] == ["string"]
    assert found["changed", "element.qty", "element.qty"] == ["bigint", "int"]
    assert found["same", "id", "id"] == ["bigint", "bigint"]
    assert found["added", "delta.enableDeletionVectors"] == ["true"]
    assert found["removed", "positive"] == ["amount &gt; 0"]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the page of an audit of a table whose types changed twice."""
    folder = tmp_path_factory.mktemp("audit")
    widening = {"delta.enableTypeWidening": "true"}
    features = ["typeWidening", "appendOnly", "invariants"]
    write_log(
        folder / "orders",
        [
            [
                commit_info("CREATE TABLE"),
                protocol(3, 7, features[:1], features),
                metadata(Field("id", INTEGER), properties=widening),
                add(),
            ],
            [
                commit_info("CHANGE COLUMN", userName="<b>anna</b>"),
                metadata(Field("id", LONG), properties=widening),
            ],
            [
                commit_info("ADD COLUMNS"),
                metadata(Field("id", LONG), Field("note", STRING), properties=widening),
            ],
        ],
    )
    file, before = folder / "audit.html", Path.cwd()
    main(["-C", str(folder), "audit", "orders", "--output-format", f"html:{file}"])
    yield file
    os.chdir(before)


def test_an_audit_shows_the_history_of_types_the_protocol_and_who_can_read_the_table(audited: Path) -> None:
    text = audited.read_text("utf-8")
    timeline = re.search(r'<ol class="timeline">(.*?)</ol>', text, re.DOTALL)
    assert timeline
    assert re.findall(r"<code>(.*?)</code>", timeline[1]) == ["int", "bigint"]
    assert "version 1, 2023-11-14, by &lt;b&gt;anna&lt;/b&gt;" in timeline[1]
    assert "reader 3, writer 7, version 2" in text
    assert "<code>typeWidening</code>" in text
    assert "Who can read it" in text
    assert "2 changes of schema, properties and protocol" in text


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory, audited: Path) -> Json:
    """Return what Chromium measures; SCHEMALINT_SCREENSHOTS names a folder for pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        skip_or_fail("the page is looked at in Chromium, which is not on the PATH: apt-get install chromium")
    library = installed(PLAYWRIGHT, "tests of the HTML page") / "playwright-core/index.js"
    folder = tmp_path_factory.mktemp("pages")
    for case in PAGES:
        page = html.render(result_of(case), show_existing=True)
        (folder / f"{case}.html").write_text(page, encoding="utf-8")
    files = [*sorted(map(str, folder.iterdir())), str(audited)]
    script = Path(__file__).parents[1] / "support/browser.mjs"
    shots = os.environ.get("SCHEMALINT_SCREENSHOTS", "")
    process = subprocess.run(
        ["node", str(script), str(library), chromium, shots, *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    found: Json = json.loads(process.stdout)
    assert len(found) == len(PAGES) + 1
    return found


@pytest.mark.wide
def test_a_browser_shows_each_page_without_errors_requests_and_sideways_scrolling(views: Json) -> None:
    for name, page in views.items():
        assert page["errors"] == [], name
        assert {url.startswith("file://") and url.endswith(name) for url in page["requests"]} == {True}, name
        assert len(page["views"]) == 4
        for view in page["views"]:
            assert view["overflow"] <= 0, (name, view["width"])
            assert set(view["tags"]) <= TAGS, name
            assert set(view["attributes"]) <= ATTRIBUTES, name


@pytest.mark.wide
def test_all_text_has_contrast_in_light_and_dark(views: Json) -> None:
    for name, page in views.items():
        for view in page["views"]:
            assert view["pale"] == [], (name, view["scheme"])
            assert view["texts"] > 10
        assert len({view["background"] for view in page["views"]}) == 2, name


@pytest.mark.wide
def test_the_keyboard_reaches_everything_in_the_order_of_the_page(views: Json) -> None:
    for name, page in views.items():
        places = [each["place"] for each in page["focus"]]
        assert places == sorted(set(places)), name
        assert len(places) == page["focusable"]
        assert all(each["visible"] for each in page["focus"]), name
    tags = {each["tag"] for page in views.values() for each in page["focus"]}
    assert tags == {"A", "PRE", "SUMMARY"}


@pytest.mark.wide
def test_the_page_is_readable_without_scripts(views: Json) -> None:
    (text, *_) = (view["text"] for view in views["pull_request.html"]["views"])
    for part in ("1 error, 1 warning in 3 tables", "approval claimed for @ada", "via: rewrite", "@partners"):
        assert part in text
    hostile = views["hostile_text.html"]["views"][0]["text"]
    assert "::error::column" in hostile.replace("\\x3a", ":")
