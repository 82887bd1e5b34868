-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:6687f5a658d256aee6c2a2fa597b3bb16073875b2c191bea6d2d68f020851664","columns":{"1":["a"],"2":null,"3":["a","y"]}}');

-- drop columns
--   'a.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`.`x`);

-- add columns
--   'a.x is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`.`x`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `a`.`x` array<varchar(3)> FIRST
);

