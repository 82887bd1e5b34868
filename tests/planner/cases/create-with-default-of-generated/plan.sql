-- create the table
--   'the table is declared and does not exist'
-- adds allowColumnDefaults
-- adds generatedColumns
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `a` int,
  `g` int GENERATED ALWAYS AS (a)
) USING delta
TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');

-- alter columns
--   'the default of g is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `g` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `g` SET DEFAULT 5;

