-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:c69cfa55c22c347f098df418861897c6aa63ea807f1c261b60faafe47f11b2cc","columns":{"1":["a2"],"2":["b"]}}');

-- rename a column
--   'a2 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a2` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `a2`;

-- add columns
--   'd is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` int AFTER `b`
);

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as a2, d'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'a2')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'a2, d');

