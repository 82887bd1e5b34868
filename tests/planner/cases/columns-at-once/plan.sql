-- alter columns
--   'a is int and declared as bigint'
--   'b is int and declared as bigint'
--   's.x is int and declared as bigint'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` TYPE bigint,
  `b` TYPE bigint,
  `s`.`x` TYPE bigint;

-- alter columns
--   'the comment of a is declared'
--   'the comment of b is declared'
--   'the comment of s.x is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` COMMENT '',
  `b` COMMENT '',
  `s`.`x` COMMENT ''
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` COMMENT 'new',
  `b` COMMENT 'new',
  `s`.`x` COMMENT 'new';

-- alter columns
--   'the default of a is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` SET DEFAULT 5000000000;

