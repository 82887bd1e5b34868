-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:14d352e39b7e0817e9d368294ca315199648ac34f9a8b860336d1e198273e196","columns":{"1":["c"],"2":null}}');

-- cluster
--   'clustering columns are dropped'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`b`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

-- rename a column
--   'c is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `c`;

-- add columns
--   'a is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `a` bigint AFTER `c`
);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`);

