-- rename a column
--   'new is renamed from old'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `new` TO `old`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `old` TO `new`;

-- rename a column
--   's.day is renamed from z'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s`.`day` TO `z`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s`.`z` TO `day`;

