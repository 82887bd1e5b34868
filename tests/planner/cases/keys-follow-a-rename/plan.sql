-- rename a column
--   'c is renamed from b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `c`;

