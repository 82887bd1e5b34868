-- rename a column
--   'customer is renamed from cust'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `customer` TO `cust`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `cust` TO `customer`;

