-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:f9aecd64918e064619b0fefcf837de1f6f907fe34ac1795118a7b8ea3423d60d","columns":{"1":["id"],"2":null,"3":["e"],"4":null,"5":["e","c"]}}');

-- drop columns
--   'a is listed under dropped'
--   's.b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`, `s`.`b`);

-- rename a column
--   'e is renamed from s'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `e` TO `s`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s` TO `e`;

-- add columns
--   'd is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` int AFTER `e`
);

-- set properties
--   'property delta.dataSkippingStatsColumns is declared as id,e.c,d'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id,e.c')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id,e.c,d');

