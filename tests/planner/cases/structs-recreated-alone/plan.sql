-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:1cdf37f2d8fa9745c8542a5e5e663cff9a24189bdf148ff9e99f82c1de3b3047","columns":{"1":["b"],"2":null,"3":["l"],"4":null,"5":null}}');

-- drop a constraint
--   'the constraint small is declared differently'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `small` CHECK (a.x < 9)
ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `small`;

-- drop columns
--   'l.element.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`l`.element.`x`);

-- rename a column
--   'a.x is dropped once the new one of that name exists'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a`.`schemalint_1` TO `x`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a`.`x` TO `schemalint_1`;

-- rename a column
--   'l.element.y is dropped once the new one of that name exists'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `l`.element.`schemalint_1` TO `y`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `l`.element.`y` TO `schemalint_1`;

-- rename a column
--   'b is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `b`;

-- add columns
--   'b.x is declared and missing'
--   'l.element.y is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`.`x`, `l`.element.`y`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `b`.`x` string FIRST,
  `l`.element.`y` string FIRST
);

-- drop columns
--   'b.x is listed under dropped'
--   'l.element.y is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`.`schemalint_1`, `l`.element.`schemalint_1`);

-- add a constraint
--   'the constraint small is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `small`
-- scans the data
ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `small` CHECK (b.x < '9');

