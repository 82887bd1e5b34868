-- drop a constraint
--   'the constraint positive is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `positive` CHECK (a > 0)
ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `positive`;

-- drop a feature
--   'rowTracking is listed under drop_features'
-- undo note: the feature can be added again
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `rowTracking`;

-- drop a feature
--   'checkConstraints is listed under drop_features'
-- undo note: the feature can be added again
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `checkConstraints`;

-- drop a feature
--   'domainMetadata is listed under drop_features'
-- undo note: the feature can be added again
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `domainMetadata`;

-- drop a feature
--   'v2Checkpoint is listed under drop_features'
-- adds checkpointProtection
-- undo note: the feature can be added again; the history before the drop stays protected
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `v2Checkpoint`;

