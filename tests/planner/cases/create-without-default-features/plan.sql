-- create the table
--   'the table is declared and does not exist'
-- adds deletionVectors
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `a` bigint
) USING delta
TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.ignoreProtocolDefaults' = 'true');

