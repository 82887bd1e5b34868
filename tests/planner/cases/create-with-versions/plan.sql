-- create the table
--   'the table is declared and does not exist'
-- adds changeDataFeed
-- adds checkConstraints
-- adds generatedColumns
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `a` bigint
) USING delta
TBLPROPERTIES ('delta.minWriterVersion' = '4', 'delta.ignoreProtocolDefaults' = 'true');

