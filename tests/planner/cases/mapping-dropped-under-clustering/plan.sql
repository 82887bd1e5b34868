-- cluster
--   'column mapping is removed'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- unset properties
--   'property delta.columnMapping.mode is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.columnMapping.mode');

-- drop a feature
--   'columnMapping is listed under drop_features'
-- adds checkpointProtection
-- undo note: the feature can be added again; the history before the drop stays protected
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `columnMapping`;

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`b`.`x`);

