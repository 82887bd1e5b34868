-- unset properties
--   'property delta.dataSkippingStatsColumns is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns');

-- drop columns
--   'a is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`);

