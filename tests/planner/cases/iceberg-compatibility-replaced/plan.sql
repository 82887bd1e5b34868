-- unset properties
--   'property delta.enableIcebergCompatV1 is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableIcebergCompatV1' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableIcebergCompatV1');

-- set properties
--   'property delta.enableIcebergCompatV2 is declared as true'
-- adds icebergCompatV2
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableIcebergCompatV2')
-- undo note: the features stay in the protocol: icebergCompatV2
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true');

