-- alter columns
--   'c is declared in another position'
--   'the comment of b is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `c` AFTER `b`,
  `b` COMMENT 'old'
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `c` AFTER `e`,
  `b` COMMENT '';

-- alter columns
--   'b is declared in another position'
--   'c is varchar(3) and declared as varchar(9)'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `b` AFTER `c`,
  `c` TYPE varchar(9);

-- alter columns
--   'a is declared in another position'
--   'the comment of c is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` FIRST,
  `c` COMMENT ''
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` AFTER `b`,
  `c` COMMENT 'new';

