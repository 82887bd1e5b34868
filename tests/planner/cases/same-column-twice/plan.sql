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
--   'a is declared nullable'
--   'the comment of s.x is declared'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` DROP NOT NULL,
  `s`.`x` COMMENT 'new';

-- alter columns
--   'the comment of a is declared'
--   'the comment of s is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` COMMENT '',
  `s` COMMENT ''
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` COMMENT 'new',
  `s` COMMENT 'new';

