-- cluster
--   'column mapping is removed'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`, `b`.`x`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- set properties
--   'property delta.columnMapping.mode is declared as none'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none');

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`, `b`.`x`);

