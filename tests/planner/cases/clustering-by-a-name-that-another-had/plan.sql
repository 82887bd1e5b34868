-- note what is on its way
--   'a run that is cut short must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:14d352e39b7e0817e9d368294ca315199648ac34f9a8b860336d1e198273e196","columns":{"1":["c"],"2":null}}');

-- cluster
--   'columns are dropped that it is clustered by'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`b`)
-- undo note: files that are there are clustered anew by OPTIMIZE only
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

-- rename a column
--   'c was a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `c`;

-- add columns
--   'a is declared and not there'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `a` bigint AFTER `c`
);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: files that are there are clustered anew by OPTIMIZE only
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`);

