-- unset properties
--   'property delta.compatibility.symlinkFormatManifest.enabled is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled');

-- set properties
--   'property delta.enableDeletionVectors is declared as true'
-- adds deletionVectors
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableDeletionVectors')
-- undo note: the features stay in the protocol: deletionVectors
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');

