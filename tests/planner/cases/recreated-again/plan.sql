-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:55b797cecd58ddec0b1ef5b0db4a25230699872d11d990b09650a84cf9b79d13","columns":{"1":["a"],"2":null}}');

-- drop columns
--   'x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`x`);

-- add columns
--   'x is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`x`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `x` string AFTER `a`
);

