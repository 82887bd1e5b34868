-- add columns
--   'n is declared and not there'
-- undo note: cannot be undone: columns are dropped with column mapping only
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `n` int AFTER `a`
);

-- move a column
--   'b is declared elsewhere'
-- undo note: by a move back, in the contract
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN `b` FIRST;

-- move a column
--   's.z is declared elsewhere'
-- undo note: by a move back, in the contract
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN `s`.`z` FIRST;

