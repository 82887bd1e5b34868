-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:6bb95e29f7b226e93e460292cb85fd0d3160d2b82c17dc37747cd4e0dcae2fe8","columns":{"1":null}}');

-- cluster
--   'clustering columns are dropped'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- rename a column
--   'a is dropped once the new one of that name exists'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `schemalint_1` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `schemalint_1`;

-- add columns
--   'A is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`A`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `A` string FIRST
);

-- drop columns
--   'a is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`schemalint_1`);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`A`);

