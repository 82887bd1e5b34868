-- add columns
--   'd is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` int AFTER `c`
);

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as a,d'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'a,d');

