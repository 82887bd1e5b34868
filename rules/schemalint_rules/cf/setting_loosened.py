from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import ConfigurationChanged, Problem, RuleContext, Severity, rule


@rule("CF001", on=ConfigurationChanged, severity=Severity.WARNING)
def setting_loosened(setting: ConfigurationChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A change of the configuration lets schemalint find less than the configuration of the base.

    ## What it does

    Compares the configuration with that of the base, and finds

    - rules that are ignored, no longer selected, less severe, or no longer locked;
    - options of rules, for all tables or some of them, that find less: a missing value, one more exception,
      another pattern; each difference, where only the rule knows;
    - the same in the settings of a folder, whose nested file is new, changed, moved or removed, and for
      contracts that move into another folder;
    - a higher `fail-on`; a baseline, or another one;
    - globs of contracts or rule files that are missing;
    - new approvals of plans, and of contracts that are removed;
    - consumers that are missing or differ, or that tables no longer have;
    - targets that are missing or differ.

    In CI the settings of the base decide this run, together with the new ones: a finding of either counts.
    A local run obeys the new settings, and the finding is an information.

    ## Why is this bad?

    A change that also loosens the configuration could hide what is wrong with it. So a looser setting takes
    effect after its merge, and a reviewer sees that it changes.

    ## What to do

    Merge the change of the configuration first, by itself. The finding fails no run, unless you set its
    severity to `error`.

    ## Example

    A pull request adds to `schemalint.toml`:

    ```toml title="configuration"
    ignore = ["TW001"]
    ```

    ## Use instead

    An exception for the tables that need it, merged before the change that needs it:

    ```toml title="instead"
    [[tables]]
    match = "sandbox.*"
    ignore = ["TW001"]
    ```
    """
    if setting.key is None:
        return
    effect = (
        "but CI obeys it after the merge only" if setting.takes_effect_now else "effective after the merge"
    )
    yield Problem(
        f"{setting.key} {_change(setting)}, {effect}",
        help="merge the change of the configuration by itself, before a change that needs it",
        severity=Severity.INFO if setting.takes_effect_now else None,
    )


def _change(setting: ConfigurationChanged) -> str:
    match setting.old, setting.new:
        case None, None:
            return "changes"
        case None, new:
            return f"gets {new}"
        case old, None:
            return f"loses {old}"
        case old, new:
            return f"changes from {old} to {new}"
