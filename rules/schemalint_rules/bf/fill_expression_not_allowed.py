from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.datatype import field_at, type_at
from schemalint.delta.fill_expressions import fill_fault
from schemalint.delta.path import format_path
from schemalint.plugin import Contract, Problem, RuleContext, Severity, rule


@rule("BF001", on=Contract, severity=Severity.ERROR, verdict="impossible")
def fill_expression_not_allowed(contract: Contract, ctx: RuleContext) -> Iterator[Problem]:
    """The expression that fills a column must not run over the data of the table.

    ## What it does

    Reads `with` of each `backfill`, and finds everything but operators, literals, `CASE`, columns of the
    same row, and these functions:

    `abs` `add_months` `between` `bround` `btrim` `cast` `ceil` `ceiling` `char_length` `character_length`
    `coalesce` `concat` `concat_ws` `contains` `crc32` `date_add` `date_diff` `date_format`
    `date_from_unix_date` `date_sub` `date_trunc` `datediff` `day` `dayofmonth` `endswith` `equal_null`
    `extract` `floor` `from_unixtime` `from_utc_timestamp` `get_json_object` `greatest` `hash` `hex` `hour`
    `if` `ifnull` `ilike` `initcap` `instr` `isnan` `isnotnull` `isnull` `last_day` `lcase` `least` `left`
    `length` `like` `locate` `lower` `ltrim` `md5` `minute` `month` `named_struct` `nanvl` `negative`
    `nullif` `nvl` `nvl2` `octet_length` `overlay` `position` `positive` `quarter` `regexp`
    `regexp_replace` `replace` `reverse` `right` `rlike` `round` `rtrim` `second` `sha` `sha1` `sha2` `sign`
    `signum` `size` `startswith` `struct` `substr` `substring` `substring_index` `timestamp_micros`
    `timestamp_millis` `timestamp_seconds` `to_utc_timestamp` `translate` `trim` `trunc` `try_add`
    `try_cast` `try_divide` `try_element_at` `try_mod` `try_multiply` `try_subtract` `try_to_date`
    `try_to_number` `try_to_timestamp` `ucase` `unix_date` `unix_micros` `unix_millis` `unix_seconds`
    `upper` `xxhash64` `year`

    So it finds subqueries, functions of users, functions that run Java code (`java_method`, `reflect`), read
    other rows (`max`, `row_number`), return rows (`explode`) or another value on each run (`uuid()`,
    `current_timestamp()`, `timestamp 'now'`), depend on files or the session (`input_file_name()`,
    `current_user()`), make a large value of a small one (`repeat`, `lpad`), or exist to fail
    (`raise_error`, `assert_true`). It also finds a time that is made of no column and no single literal
    (`cast(concat('n', 'ow') as date)`: Spark reads some texts as the time of the run), beside days and
    instants also a text that is made of literals alone, replacements that make a text more than 1,000 times
    as long, and a cast to a type with parts (array, map, struct) whose operand is no column or field.

    ## Why is this bad?

    `apply --allow data` runs the expression over the rows of the table, with the rights of the session. All
    other texts of a contract only become part of the table. A fill is repeated, too: for rows that came
    later, and after a run that was killed. It must give each row the same value then.

    No exception lets such an expression run: `plan` refuses it whatever the configuration says.

    ## What to do

    Use the functions above. `cast` is tried: a row whose value does not convert stays null, and is counted.
    Fill a column that needs more in a job of your own, and leave `backfill` out.

    ## Example

    ```yaml title="contract"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: key, type: string, backfill: {from: code, with: "concat(code, uuid())"}}
    ```

    ## Use instead

    ```yaml title="instead"
    schemalint: 1
    table: sales.orders
    columns:
      - {name: code, type: string}
      - {name: key, type: string, backfill: {from: code, with: "sha2(code, 256)"}}
    ```
    """
    states = (contract.state.columns, ctx.before.columns)
    for path, backfill in contract.backfills.items():
        is_there = any(field_at(columns, backfill.source) is not None for columns in states)
        type_ = type_at(contract.state.columns, path)
        fault = fill_fault(backfill.expression, *(states if is_there else ()), type_=type_)
        if fault is not None:
            yield Problem(
                f"the expression that fills {format_path(path)} {fault.what}",
                help=fault.help,
                path=path,
                part="backfill.with",
                new=backfill.expression,
            )
