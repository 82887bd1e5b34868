-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:b930cd45e767fb3842888ce0265a52a87c9c28d9c7b9ef4c47a5c632ea41a014","columns":{"1":["a-2"],"2":["b"],"3":null}}');

-- unset properties
--   'Delta cannot drop columns beside delta.dataSkippingStatsColumns with these names: it is set again below'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'a,b')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns');

-- drop columns
--   'c is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`c`);

-- rename a column
--   'a-2 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a-2` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `a-2`;

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as `a-2`,b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`a-2`,b');

