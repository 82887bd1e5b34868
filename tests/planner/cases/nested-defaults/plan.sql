-- add columns
--   's.y is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `s`.`y` int AFTER `x`
);

-- alter columns
--   'the default of s.x is declared'
--   'the default of s.y is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `s`.`x` DROP DEFAULT,
  `s`.`y` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `s`.`x` SET DEFAULT 1,
  `s`.`y` SET DEFAULT 1;

