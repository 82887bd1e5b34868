-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:483f2f4456d4ba74c9b1291e795bb01819b14318b2bcf089db3336f3d6bea072","columns":{"1":["id"],"2":null}}');

-- unset properties
--   'Delta cannot drop columns beside delta.dataSkippingStatsColumns with these names: it is set again below'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'ID,aA')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns');

-- drop columns
--   'Aa is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`Aa`);

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as ID'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'ID');

