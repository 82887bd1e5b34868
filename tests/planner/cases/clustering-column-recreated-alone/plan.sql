-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:9f393c922bc229cee0749a6fa8613e04466891dc2c3609e091a5b97d7ca58cff","columns":{"1":["a"],"2":null}}');

-- cluster
--   'clustering columns are dropped'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`, `b`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE;

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

-- add columns
--   'b is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `b` date AFTER `a`
);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY NONE
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`, `b`);

