"""Loading rules from installed packages; the tests write small distributions to a folder on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from schemalint.base.errors import InternalError, PluginError, UsageError
from schemalint.delta.change import TypeChanged
from schemalint.plugin import ATTRIBUTE, Severity, rule
from schemalint.project.config import Config
from schemalint.review.rulebook import load_rules, rules_of

RULE = '''\
from schemalint.delta.change import TypeChanged
from schemalint.plugin import Problem, Severity, rule

@rule("{code}", on=TypeChanged, severity=Severity.WARNING, default={default})
def {name}(change, ctx):
    """{name} of a test.

    More of it.
    """
    yield Problem("m")
'''

NO_DOCSTRING = """\
from schemalint.delta.change import TypeChanged
from schemalint.plugin import Severity, rule

@rule("ACME001", on=TypeChanged, severity=Severity.WARNING)
def wide(change, ctx):
    return []
"""


class Site:
    """A folder of installed packages on the path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def install(self, distribution: str, modules: dict[str, str], entry_point: str) -> None:
        for name, text in modules.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        info = self.path / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[schemalint.rules]\n{distribution} = {entry_point}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield Site(tmp_path)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _rule(code: str, name: str, *, default: bool = True) -> str:
    return RULE.format(code=code, name=name, default=default)


def _codes(selection: Config | None = None) -> list[str]:
    return [loaded.code for loaded in (load_rules() if selection is None else rules_of(selection))]


def test_all_modules_of_a_package_are_loaded_with_its_distribution(site: Site) -> None:
    modules = {
        "acme_rules/__init__.py": "",
        "acme_rules/names/__init__.py": "",
        "acme_rules/names/one.py": _rule("ACME001", "wide_column"),
        "acme_rules/two.py": _rule("ACME002", "narrow_column")
        + "from acme_rules.names.one import wide_column\n",
    }
    site.install("acme-schemalint", modules, "acme_rules")
    own = [loaded for loaded in load_rules() if loaded.distribution == "acme-schemalint"]
    assert [(loaded.code, loaded.name, loaded.module) for loaded in own] == [
        ("ACME001", "wide-column", "acme_rules.names.one"),
        ("ACME002", "narrow-column", "acme_rules.two"),
    ]
    assert own[0].summary == "wide_column of a test."
    assert own[0].doc == "wide_column of a test.\n\nMore of it.\n"


def test_rules_are_loaded_from_a_single_module(site: Site) -> None:
    site.install("acme", {"acme_one.py": _rule("ACME001", "wide")}, "acme_one")
    assert "ACME001" in _codes()


@pytest.mark.parametrize("distribution", ["schemalint-extra", "schemalint_extra", "extra"])
def test_other_packages_have_rules_whatever_their_name_begins_with(site: Site, distribution: str) -> None:
    module = f"{distribution.replace('-', '_')}_rules"
    site.install(distribution, {f"{module}.py": _rule("ACME001", "wide")}, module)
    (site.path / f"{distribution.replace('-', '_')}-1.0.dist-info").rename(
        site.path / f"{distribution}-1.0.dist-info"
    )
    assert "ACME001" in _codes()


def test_without_other_packages_the_metadata_of_none_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests leave finders and archives behind.
    finders = [finder for finder in sys.meta_path if not hasattr(finder, "find_distributions")]
    monkeypatch.setattr(sys, "meta_path", [*finders, PathFinder])
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if not Path(folder).is_file()])
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert {loaded.distribution for loaded in load_rules()} == {"schemalint"}


def test_rules_are_sorted_by_code(site: Site) -> None:
    site.install("acme", {"acme_order.py": _rule("AAA001", "first") + _rule("ZZZ001", "last")}, "acme_order")
    codes = _codes()
    assert codes == sorted(codes)
    assert (codes[0], codes[-1]) == ("AAA001", "ZZZ001")


FAULTS = [
    ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("import sys; sys.exit(0)", "SystemExit: 0"),
    ("def broken(:", "SyntaxError: invalid syntax"),
    (_rule("acme1", "wide"), "ValueError: 'acme1' is not a rule code"),
    (NO_DOCSTRING, "ValueError: the rule wide has no docstring"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[message.split(":")[0] for _, message in FAULTS])
@pytest.mark.parametrize("module", ["__init__", "below/deep"])
def test_package_that_cannot_be_imported_ends_the_run(
    site: Site, module: str, text: str, message: str
) -> None:
    modules = {"acme_bad/__init__.py": "", "acme_bad/below/__init__.py": "", f"acme_bad/{module}.py": text}
    site.install("acme-bad", modules, "acme_bad")
    with pytest.raises(PluginError) as caught:
        load_rules()
    begin = f"the rules of acme-bad (acme_bad) cannot be used: cannot be imported: {message}"
    assert caught.value.message.startswith(begin)
    assert caught.value.help == "repair or remove acme-bad"


def test_missing_package_ends_the_run(site: Site) -> None:
    site.install("acme-gone", {}, "acme_gone")
    with pytest.raises(PluginError, match=r"acme-gone .* No module named 'acme_gone'"):
        load_rules()


def test_code_used_twice_ends_the_run_and_both_modules_are_named(site: Site) -> None:
    site.install("acme-one", {"acme_one.py": _rule("ACME001", "wide")}, "acme_one")
    site.install("acme-two", {"acme_two.py": _rule("ACME001", "other")}, "acme_two")
    with pytest.raises(PluginError) as caught:
        load_rules()
    assert "rule ACME001 of acme_" in caught.value.message
    assert {"acme_one", "acme_two"} <= set(caught.value.message.replace("'", " ").split())


def test_code_of_a_built_in_rule_is_refused(site: Site) -> None:
    site.install("acme-tw", {"acme_tw.py": _rule("TW001", "wide")}, "acme_tw")
    with pytest.raises((PluginError, InternalError), match="rule TW001 of"):
        load_rules()


def test_rule_imported_by_another_package_keeps_its_distribution(site: Site) -> None:
    """The order in which the packages are found does not matter."""
    lent = {"lent_one.py": _rule("ACME001", "one"), "lent_two.py": _rule("ACME002", "two")}
    site.install(
        "acme-one", {**lent, "acme_one.py": "import lent_one\nfrom lent_two import two\n"}, "acme_one"
    )
    site.install("lender-one", {}, "lent_one")
    site.install("lender-two", {}, "lent_two")
    site.install("zacme-two", {"acme_two.py": "from lent_one import one\n"}, "acme_two")
    owners = {loaded.code: loaded.distribution for loaded in load_rules() if loaded.code.startswith("ACME")}
    assert owners == {"ACME001": "lender-one", "ACME002": "lender-two"}


def test_package_of_two_entry_points_is_loaded_once(site: Site) -> None:
    site.install("acme-one", {"acme_one.py": _rule("ACME001", "wide")}, "acme_one")
    site.install("acme-again", {}, "acme_one")
    assert _codes().count("ACME001") == 1


@pytest.mark.parametrize("entry_point", ["schemalint_rules", "schemalint_rules.tw"])
def test_built_in_rules_may_be_registered_again(site: Site, entry_point: str) -> None:
    before = _codes()
    site.install("acme-again", {}, entry_point)
    assert _codes() == before


@pytest.fixture
def acme(site: Site) -> None:
    text = _rule("ACME001", "wide") + _rule("ACME002", "narrow") + _rule("ACMP001", "young", default=False)
    site.install("acme", {"acme_some.py": text}, "acme_some")


SELECTIONS = [
    (Config(select=("ACM",)), ["ACME001", "ACME002", "ACMP001"]),
    (Config(select=("ACMP001",)), ["ACMP001"]),
    (Config(select=("young",)), ["ACMP001"]),
    (Config(select=("ACME002", "narrow")), ["ACME002"]),
    (Config(select=("ACME001",), extend_select=("ACMP",)), ["ACME001", "ACMP001"]),
    (Config(select=("ACM",), ignore=("wide",)), ["ACME002", "ACMP001"]),
    (Config(select=("ACM",), extend_select=("ACME001",), ignore=("ACME001",)), ["ACME002", "ACMP001"]),
    (Config(select=("ALL",), ignore=("ALL",)), []),
]


@pytest.mark.parametrize("selection", [Config(select=()), Config(ignore=("",))])
def test_empty_selection_is_refused(selection: Config) -> None:
    with pytest.raises(UsageError):
        rules_of(selection)


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(("selection", "codes"), SELECTIONS)
def test_selection_loads_the_expected_rules(selection: Config, codes: list[str]) -> None:
    assert _codes(selection) == codes


@pytest.mark.usefixtures("acme")
def test_without_a_selection_the_rules_run_that_are_on_by_default() -> None:
    codes = _codes(Config())
    assert {"ACME001", "ACME002"} <= set(codes)
    assert "ACMP001" not in codes
    assert len(codes) > 10
    assert {*_codes(Config(select=("ALL",)))} == {*codes, "ACMP001"}
    assert {*_codes(Config(extend_select=("ALL",)))} == {*codes, "ACMP001"}
    assert "ACMP001" not in _codes(Config(severity={"ACMP001": Severity.ERROR}, locked=("ACMP001",)))


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ({"ACME001": Severity.ERROR}, (Severity.ERROR, Severity.WARNING)),
        ({"ACME": Severity.INFO}, (Severity.INFO, Severity.INFO)),
        ({"ACME001": Severity.ERROR, "ALL": Severity.INFO}, (Severity.ERROR, Severity.INFO)),
        ({"narrow": Severity.ERROR}, (Severity.WARNING, Severity.ERROR)),
    ],
)
def test_configured_severities_override_those_of_the_rules(
    severity: dict[str, Severity], expected: tuple[Severity, ...]
) -> None:
    rules = rules_of(Config(select=("ACME", "ALL"), severity=severity))
    assert tuple(loaded.severity for loaded in rules if loaded.code.startswith("ACME")) == expected


@pytest.mark.parametrize(
    "selection",
    [
        Config(select=("NOPE",)),
        Config(extend_select=("NOPE",)),
        Config(ignore=("NOPE",)),
        Config(severity={"NOPE": Severity.INFO}),
    ],
)
def test_unknown_rule_in_a_selection_is_refused(selection: Config) -> None:
    with pytest.raises(UsageError, match="there is no rule 'NOPE'") as caught:
        rules_of(selection)
    assert "schemalint rules" in caught.value.help


@pytest.mark.parametrize("code", ["", "TW1", "tw001", "T001", "TW0011", "TOOLONGACODE001", "TW001 "])
def test_invalid_rule_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="is not a rule code"):
        rule(code, on=TypeChanged, severity=Severity.INFO)


def test_decorated_rule_stays_a_function() -> None:
    def wide(_change: TypeChanged, _ctx: object) -> list[object]:
        """First line.

        Second.
            Deeper.
        """
        return []

    decorated = rule("ACME001", on=(TypeChanged, str), severity=Severity.INFO)(wide)  # type: ignore[type-var]
    assert decorated is wide
    attached = getattr(wide, ATTRIBUTE)
    assert (attached.name, attached.subjects) == ("wide", (TypeChanged, str))
    assert attached.doc == "First line.\n\nSecond.\n    Deeper.\n"
