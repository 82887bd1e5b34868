-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:f9f1dd9bbe63c298552f867363b243678195d2b4a52dd6ed5d3b4a0f1dbad08a","columns":{"1":["emp#no"],"2":["dept-1"],"3":null}}');

-- unset properties
--   'Delta cannot drop columns beside delta.dataSkippingStatsColumns with these names: it is set again below'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`emp#no`,`dept-1`')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns');

-- drop columns
--   'city is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`city`);

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as `emp#no`,`dept-1`'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`emp#no`,`dept-1`');

