-- drop a feature
--   'deletionVectors is listed under drop_features with truncate_history'
-- undo note: the versions before the drop are deleted; the feature can be added again. While older versions use the feature, the first run only removes its traces, and a run after the retention period (interval 24 hours) drops it
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `deletionVectors` TRUNCATE HISTORY;

-- drop a feature
--   'vacuumProtocolCheck is listed under drop_features with truncate_history'
-- undo note: the versions before the drop are deleted; the feature can be added again. While older versions use the feature, the first run only removes its traces, and a run after the retention period (interval 24 hours) drops it
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `vacuumProtocolCheck` TRUNCATE HISTORY;

-- drop a feature
--   'checkpointProtection is listed under drop_features with truncate_history'
-- undo note: the versions before the drop are deleted; the feature can be added again. While older versions use the feature, the first run only removes its traces, and a run after the retention period (interval 24 hours) drops it
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `checkpointProtection` TRUNCATE HISTORY;

