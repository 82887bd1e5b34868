"""The built-in functions of Spark, by what Delta does with a call in an expression.

Source: ``SHOW FUNCTIONS`` and the functions' own descriptions in Spark 4.2.0 with Delta 4.4.0. A test
compares the names, and asks the engine which functions are deterministic.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Final


class FunctionKind(Enum):
    """What a function needs to be computed."""

    ROW = "row"
    """Its arguments alone, or the time at which a statement began."""

    NOT_DETERMINISTIC = "not deterministic"
    """Two calls with the same arguments may have different values."""

    JAVA = "Java"
    """It calls a Java method that the expression names."""

    SESSION = "session"
    """The session. In a constraint, Spark does not replace the call by its value, and every write fails."""

    MANY_ROWS = "many rows"
    """Aggregates and window functions: other rows."""

    TABLE = "table"
    """It returns rows, not a value."""

    @property
    def obstacle(self) -> str | None:
        """Why Delta computes no call in an expression, as a clause about the function; None if it does."""
        return _OBSTACLES.get(self)


_OBSTACLES: Final = {
    FunctionKind.NOT_DETERMINISTIC: "which returns another value on each call",
    FunctionKind.JAVA: "which runs Java code",
    FunctionKind.MANY_ROWS: "which needs more than one row",
    FunctionKind.TABLE: "which returns rows",
    FunctionKind.SESSION: "whose value only the session of a query knows",
}

_SCHEMAS: Final = ("system.builtin.", "builtin.")

_NAMES: Final = {
    FunctionKind.NOT_DETERMINISTIC: """
    input_file_block_length input_file_block_start input_file_name monotonically_increasing_id rand
    randn random randstr shuffle spark_partition_id uniform uuid
    """,
    FunctionKind.JAVA: "java_method reflect try_reflect",
    FunctionKind.SESSION: """
    current_catalog current_database current_path current_schema current_user session_user user
    """,
    FunctionKind.MANY_ROWS: """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if count_min_sketch
    covar_pop covar_samp cume_dist dense_rank every first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
    kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis lag
    last last_value lead listagg max max_by mean measure median min min_by mode nth_value ntile
    percent_rank percentile percentile_approx percentile_cont percentile_disc rank regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_number
    schema_of_variant_agg session_window skewness some std stddev stddev_pop stddev_samp string_agg sum
    theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
    tuple_intersection_agg_double tuple_intersection_agg_integer tuple_sketch_agg_double
    tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer var_pop var_samp variance
    vector_avg vector_sum window
    """,
    FunctionKind.TABLE: """
    collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer
    python_worker_logs range sql_keywords stack table_changes table_changes_by_path variant_explode
    variant_explode_outer
    """,
    FunctionKind.ROW: """
    abs acos acosh add_months aes_decrypt aes_encrypt aggregate and approx_top_k_estimate array
    array_append array_compact array_contains array_distinct array_except array_insert array_intersect
    array_join array_max array_min array_position array_prepend array_remove array_repeat array_size
    array_sort array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh
    base64 between bigint bin binary bit_count bit_get bit_length bitmap_bit_position
    bitmap_bucket_number bitmap_count boolean bround btrim cardinality case cast cbrt ceil ceiling char
    char_length character_length chr coalesce collate collation concat concat_ws contains conv
    convert_timezone cos cosh cot crc32 csc curdate current_date current_time current_timestamp
    current_timezone date date_add date_diff date_format date_from_unix_date date_part date_sub
    date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode
    degrees div double e element_at elt encode endswith equal_null exists exp expm1 extract factorial
    filter find_in_set flatten float floor forall format_number format_string from_avro from_csv
    from_json from_protobuf from_unixtime from_utc_timestamp from_xml get get_json_object getbit
    greatest hash hex hll_sketch_estimate hll_union hour hypot if ifnull ilike in initcap instr int
    is_valid_utf8 is_valid_variant is_variant_null isnan isnotnull isnull json_array_length
    json_object_keys kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
    kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
    kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
    kll_sketch_to_string_double kll_sketch_to_string_float last_day lcase least left len length
    levenshtein like ln localtimestamp locate log log10 log1p log2 lower lpad ltrim luhn_check make_date
    make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz
    make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_filter
    map_from_arrays map_from_entries map_keys map_values map_zip_with mask md5 minute mod month
    monthname months_between named_struct nanvl negative next_day not now nullif nullifzero nvl nvl2
    octet_length or overlay parse_json parse_url pi pmod position positive pow power printf quarter
    quote radians raise_error reduce regexp regexp_count regexp_extract regexp_extract_all regexp_instr
    regexp_like regexp_replace regexp_substr repeat replace reverse right rint rlike round rpad rtrim
    schema_of_avro schema_of_csv schema_of_json schema_of_variant schema_of_xml sec second sentences
    sequence sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign signum sin sinh size slice
    smallint sort_array soundex space split split_part sqrt st_asbinary st_geogfromwkb st_geomfromwkb
    st_setsrid st_srid startswith str_to_map string struct substr substring substring_index tan tanh
    theta_difference theta_intersection theta_sketch_estimate theta_union time time_bucket time_diff
    time_from_micros time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds
    time_trunc timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint to_avro to_binary
    to_char to_csv to_date to_json to_number to_protobuf to_time to_timestamp to_timestamp_ltz
    to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar to_variant_object to_xml transform
    transform_keys transform_values translate trim trunc try_add try_aes_decrypt try_divide
    try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    try_mod try_multiply try_parse_json try_parse_url try_subtract try_to_binary try_to_date
    try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 try_variant_get
    tuple_difference_double tuple_difference_integer tuple_difference_theta_double
    tuple_difference_theta_integer tuple_intersection_double tuple_intersection_integer
    tuple_intersection_theta_double tuple_intersection_theta_integer tuple_sketch_estimate_double
    tuple_sketch_estimate_integer tuple_sketch_summary_double tuple_sketch_summary_integer
    tuple_sketch_theta_double tuple_sketch_theta_integer tuple_union_double tuple_union_integer
    tuple_union_theta_double tuple_union_theta_integer typeof ucase unbase64 unhex unix_date unix_micros
    unix_millis unix_seconds unix_timestamp upper url_decode url_encode validate_utf8 variant_get
    vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
    version weekday weekofyear when width_bucket window_time xpath xpath_boolean xpath_double
    xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64 year zeroifnull
    zip_with
    """,
}

_NOT_GENERATED: Final = """
aes_decrypt aes_encrypt aggregate array_append array_compact array_insert array_prepend array_size
array_sort assert_true bit_get bitmap_bit_position bitmap_bucket_number bitmap_count btrim collation
contains convert_timezone csc curdate current_date current_timestamp current_timezone
date_from_unix_date dayname endswith equal_null exists filter forall from_xml get getbit
hll_sketch_estimate ilike is_valid_utf8 json_array_length json_object_keys kll_sketch_get_n_bigint
kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint
kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_to_string_bigint
kll_sketch_to_string_double kll_sketch_to_string_float localtimestamp luhn_check make_dt_interval
make_valid_utf8 make_ym_interval map_contains_key map_filter map_zip_with mask monthname nullif
nullifzero quote raise_error reduce regexp_count regexp_extract_all regexp_instr regexp_substr
schema_of_xml sec split_part startswith theta_sketch_estimate time_bucket timestamp_micros
timestamp_millis timestamp_seconds to_binary to_char to_number to_varchar to_xml transform
transform_keys transform_values try_add try_aes_decrypt try_divide try_element_at try_make_timestamp
try_mod try_multiply try_parse_url try_subtract try_to_binary try_to_number try_url_decode
try_validate_utf8 try_variant_get tuple_sketch_estimate_double tuple_sketch_estimate_integer
tuple_sketch_summary_double tuple_sketch_summary_integer tuple_sketch_theta_double
tuple_sketch_theta_integer unix_date unix_micros unix_millis unix_seconds url_decode url_encode
validate_utf8 variant_get vector_cosine_similarity vector_inner_product vector_l2_distance
vector_norm vector_normalize version width_bucket zeroifnull zip_with
"""
"""Delta has a list of what it allows in generated columns (SupportedGenerationExpressions.scala; measured on
Delta 4.4.0, ``tests/engine/generated.csv``)."""

_NEWER: Final = {
    "4.0": """
    collate collation collations dayname from_avro from_protobuf from_xml is_valid_utf8 is_variant_null
    listagg make_valid_utf8 monthname nullifzero parse_json percentile_cont percentile_disc randstr
    schema_of_avro schema_of_variant schema_of_variant_agg schema_of_xml session_user string_agg to_avro
    to_protobuf to_variant_object to_xml try_make_interval try_make_timestamp try_make_timestamp_ltz
    try_make_timestamp_ntz try_mod try_parse_json try_parse_url try_reflect try_url_decode
    try_validate_utf8 try_variant_get uniform validate_utf8 variant_explode variant_explode_outer
    variant_get zeroifnull
    """,
    "4.2": """
    approx_top_k approx_top_k_accumulate approx_top_k_combine approx_top_k_estimate bitmap_and_agg
    current_path current_time is_valid_variant kll_merge_agg_bigint kll_merge_agg_double
    kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float
    kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
    kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
    kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
    kll_sketch_to_string_double kll_sketch_to_string_float make_time measure python_worker_logs quote
    st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid theta_difference theta_intersection
    theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union theta_union_agg time
    time_bucket time_diff time_from_micros time_from_millis time_from_seconds time_to_micros
    time_to_millis time_to_seconds time_trunc to_time try_to_date try_to_time tuple_difference_double
    tuple_difference_integer tuple_difference_theta_double tuple_difference_theta_integer
    tuple_intersection_agg_double tuple_intersection_agg_integer tuple_intersection_double
    tuple_intersection_integer tuple_intersection_theta_double tuple_intersection_theta_integer
    tuple_sketch_agg_double tuple_sketch_agg_integer tuple_sketch_estimate_double
    tuple_sketch_estimate_integer tuple_sketch_summary_double tuple_sketch_summary_integer
    tuple_sketch_theta_double tuple_sketch_theta_integer tuple_union_agg_double tuple_union_agg_integer
    tuple_union_double tuple_union_integer tuple_union_theta_double tuple_union_theta_integer vector_avg
    vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
    vector_sum
    """,
}
"""The functions that not all Sparks have, by the first of those asked that has them: ``SHOW FUNCTIONS`` in
Spark 3.5.7, 4.0.2 and 4.2.0."""

_SYNTAX: Final = frozenset({"try_cast", "timestampadd", "timestampdiff"})
"""Calls of one row in Spark's grammar that its list of functions does not have."""


@cache
def kinds() -> dict[str, FunctionKind]:
    """Return the kind of each built-in function, by its name in lower case."""
    return {name: kind for kind, names in _NAMES.items() for name in names.split()}


@cache
def not_generated() -> frozenset[str]:
    """Return the names of the functions of one row that Delta refuses in a generated column."""
    return frozenset(_NOT_GENERATED.split())


@cache
def newer() -> dict[str, str]:
    """Return the first Spark that has each function which not all of them have, by its name in lower case."""
    return {name: spark for spark, names in _NEWER.items() for name in names.split()}


def kind_of_function(name: str) -> FunctionKind | None:
    """Return the kind of a function by its name in lower case; None if Spark 4.2.0 has no such function."""
    name = built_in_name(name)
    if name in _SYNTAX:
        return FunctionKind.ROW
    return kinds().get(name)


def built_in_name(name: str) -> str:
    """Return the name of a function without the schemas of built-in functions."""
    for schema in _SCHEMAS:
        name = name.removeprefix(schema)
    return name
