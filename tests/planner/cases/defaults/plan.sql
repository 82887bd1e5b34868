-- add columns
--   'd is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` string AFTER `c`
);

-- alter columns
--   'a is int and declared as bigint'
--   'the comment of a is declared'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` CHANGE COLUMN `a` `a` bigint COMMENT 'both';

-- alter columns
--   'the default of a is declared'
--   'the default of b is declared'
--   'c is declared without a default'
--   'the default of d is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` SET DEFAULT 1,
  `b` DROP DEFAULT,
  `c` SET DEFAULT 3,
  `d` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` SET DEFAULT 2,
  `b` SET DEFAULT 7,
  `c` DROP DEFAULT,
  `d` SET DEFAULT 'it''s';

