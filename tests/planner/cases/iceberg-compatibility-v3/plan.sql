-- set properties
--   'property delta.enableIcebergCompatV3 is declared as true'
-- adds domainMetadata
-- adds icebergCompatV3
-- adds rowTracking
-- undo note: Delta cannot restore delta.enableIcebergCompatV3; the features stay in the protocol: domainMetadata, icebergCompatV3, rowTracking
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true');

