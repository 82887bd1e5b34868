-- create the table
--   'the table is declared and does not exist'
-- adds clustering
-- adds columnMapping
-- adds domainMetadata
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `a` int,
  `s` struct<`x y`: int>
) USING delta
CLUSTER BY (`a`, `s`.`x y`)
TBLPROPERTIES ('delta.columnMapping.mode' = 'name');

