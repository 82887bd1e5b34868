-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:db0d20953578f89d15b1daad777fa90fe88d1e1baf749de7968e5bdbdeb61e17","columns":{"1":null,"2":["b"],"3":["c"]}}');

-- drop columns
--   'a is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`);

-- add columns
--   'a is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `a` string FIRST
);

