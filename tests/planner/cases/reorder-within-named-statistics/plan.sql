-- alter columns
--   'a is declared in another position'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` FIRST
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` AFTER `c`;

