from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Char
from schemalint.delta.path import format_path
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.plugin import Problem, RuleContext, Severity, rule


@rule("TW011", on=TypeChanged, severity=Severity.INFO, scope="effect")
def char_padding_lost(change: TypeChanged, _ctx: RuleContext) -> Iterator[Problem]:
    """A char column becomes a varchar or a string, so Spark no longer pads its values.

    ## What it does

    Finds a top-level `char(n)` that becomes `varchar` or `string`. Delta makes the change in place and needs
    no feature for it.

    ## Why is this bad?

    Spark pads the values of a `char(n)` with blanks to n characters when it reads them. Afterwards readers
    see what is stored: `length` differs, `''` is no longer three blanks, and a comparison with the padded
    value finds nothing. Measured on Delta 4.4.0.

    ## What to do

    Nothing, if readers do not depend on the padding. Otherwise they call `rpad(column, n, ' ')`.

    ## Example

    ```yaml title="before"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: country, type: char(3)}
    ```

    ```yaml title="after"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: country, type: string}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: country, type: char(3)}
    ```
    """
    verdict = classify(change.old, change.new, nested=len(change.path) > 1)
    if isinstance(change.old, Char) and verdict == TypeVerdict.FREE:
        yield Problem(
            f"{format_path(change.path)} changes from {print_type(change.old)} to {print_type(change.new)}: "
            "readers then see its values without padding",
            help=f"readers that need the padding call rpad(…, {change.old.length}, ' ')",
        )
