-- unset properties
--   'property delta.enableTypeWidening is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableTypeWidening');

-- drop a feature
--   'typeWidening is listed under drop_features'
-- adds checkpointProtection
-- undo note: the feature can be added again; the history before the drop stays protected
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `typeWidening`;

