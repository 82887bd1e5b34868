-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:f5b183d25d73edad74cabf5debaf08ee7a7120b395fce022da59d28c17c6b791","columns":{"1":["t"],"2":null,"3":["t","x"]}}');

-- cluster
--   'clustering columns are dropped'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`s`.`b`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- drop columns
--   's.b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`b`);

-- rename a column
--   't is renamed from s'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t` TO `s`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s` TO `t`;

-- add columns
--   't.b is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`t`.`b`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `t`.`b` bigint FIRST
);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`t`.`b`);

