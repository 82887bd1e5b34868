-- rename a column
--   'order_date is renamed from day'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `order_date` TO `day`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `day` TO `order_date`;

