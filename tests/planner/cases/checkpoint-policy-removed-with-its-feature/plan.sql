-- set properties
--   'property delta.appendOnly is declared as true'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.appendOnly')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.appendOnly' = 'true');

-- set properties
--   'DROP FEATURE v2Checkpoint may set property delta.checkpointPolicy, which is removed after it'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.checkpointPolicy' = 'classic');

-- drop a feature
--   'v2Checkpoint is listed under drop_features'
-- adds checkpointProtection
-- undo note: the feature can be added again; the history before the drop stays protected
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `v2Checkpoint`;

-- unset properties
--   'property delta.checkpointPolicy is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.checkpointPolicy' = 'classic')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.checkpointPolicy');

