-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:88a0d6be97ddc0570f50553fb315d5f9357ef5ac5e1581a02943b700f996e151","columns":{"1":["lines"],"2":["lines",{"in":"element"},"sku"],"3":null,"4":["t"],"5":null,"6":["t","y"]}}');

-- drop columns
--   'lines.element.qty is listed under dropped'
--   's.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`lines`.element.`qty`, `s`.`x`);

-- rename a column
--   't is renamed from s'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t` TO `s`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s` TO `t`;

-- add columns
--   'lines.element.qty is declared and missing'
--   't.x is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`lines`.element.`qty`, `t`.`x`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `lines`.element.`qty` string AFTER `sku`,
  `t`.`x` date FIRST
);

