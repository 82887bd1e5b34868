from __future__ import annotations

from collections.abc import Iterator

from schemalint.plugin import ConfigurationChanged, Problem, RuleContext, Severity, rule


@rule("CF002", on=ConfigurationChanged, severity=Severity.INFO)
def first_configuration(changed: ConfigurationChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """The base has no configuration, so that of the change decides, and no live table is read.

    ## What it does

    Finds in CI that the base has no configuration, or an invalid one, and the change has one. Its settings
    decide the check. If the base has contracts, the default settings decide too.

    ## Why is this bad?

    It is expected when a repository adopts schemalint. But nobody has approved the targets of this
    configuration yet: schemalint opens no connection, even with `--live`.

    ## What to do

    Review the configuration. It counts after the merge.

    ## Example

    A pull request adds `schemalint.toml`, and the base has neither this file nor `[tool.schemalint]`:

    ```toml title="configuration"
    [targets.prod]
    root = "s3://lake/tables"
    ```

    ## Use instead

    Nothing: the finding fails no run.

    ```toml title="instead"
    [targets.prod]
    root = "s3://lake/tables"
    ```
    """
    if changed.key is None:
        decides = "decides this check" if changed.takes_effect_now else "decides with the default settings"
        yield Problem(
            f"the base has no valid configuration: that of the change {decides}, "
            "and its targets count after the merge"
        )
