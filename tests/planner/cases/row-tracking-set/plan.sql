-- set properties
--   'property delta.enableRowTracking is declared as true'
-- adds domainMetadata
-- adds rowTracking
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableRowTracking')
-- undo note: the features stay in the protocol: domainMetadata, rowTracking
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableRowTracking' = 'true');

