-- create the table
--   'the table is declared and does not exist'
-- adds allowColumnDefaults
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `a` int DEFAULT 1,
  `s` struct<x: int, y: int>
) USING delta
TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');

-- alter columns
--   'the default of s.x is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `s`.`x` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `s`.`x` SET DEFAULT 2;

