-- add columns
--   'n is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `n` int AFTER `a`
);

-- move a column
--   'b is declared in another position'
-- undo note: move it back in the contract
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN `b` FIRST;

-- move a column
--   's.z is declared in another position'
-- undo note: move it back in the contract
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN `s`.`z` FIRST;

