-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:116cd2bda949611f5e464358e2e5d0ba421d718a0a28485348994408da03b9e8","columns":{"1":["s"],"2":null,"3":["c"]}}');

-- add columns
--   's.y is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`y`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `s`.`y` int AFTER `x`
);

-- drop columns
--   's.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`x`);

-- add columns
--   's.x is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`x`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `s`.`x` string AFTER `y`
);

