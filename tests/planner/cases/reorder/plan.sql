-- add columns
--   'n is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `n` int AFTER `a`
);

-- alter columns
--   'b is declared in another position'
--   's.z is declared in another position'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `b` AFTER `s`,
  `s`.`z` AFTER `y`
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `b` FIRST,
  `s`.`z` FIRST;

