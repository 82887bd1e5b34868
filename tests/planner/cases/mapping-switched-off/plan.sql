-- rename a column
--   'z is renamed from b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `z` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `z`;

-- set properties
--   'property delta.columnMapping.mode is declared as none'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none');

