-- set properties
--   'property delta.enableDeletionVectors is declared as false'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false');

-- drop columns
--   'v is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`v`);

-- set properties
--   'property delta.enableIcebergCompatV2 is declared as true'
-- adds icebergCompatV2
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableIcebergCompatV2')
-- undo note: the features stay in the protocol: icebergCompatV2
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true');

