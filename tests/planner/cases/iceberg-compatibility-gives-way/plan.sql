-- unset properties
--   'property delta.enableIcebergCompatV1 is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableIcebergCompatV1' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableIcebergCompatV1');

-- set properties
--   'property delta.enableDeletionVectors is declared as true'
-- adds deletionVectors
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableDeletionVectors')
-- undo note: the features stay in the protocol: deletionVectors
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');

