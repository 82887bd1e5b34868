-- set properties
--   'property delta.columnMapping.mode is declared as name'
-- adds columnMapping
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.columnMapping.mode')
-- undo note: the features stay in the protocol: columnMapping
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name');

-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:7b6be1657ec7332007461520c35d6a917fa5473372a8073b92e0518f86bba009","columns":{"1":["id"],"2":["t"],"3":["t","y"],"4":["t","x"],"5":["lines"],"6":["lines",{"in":"element"},"qty"],"7":null}}');

-- drop columns
--   'lines.element.sku is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`lines`.element.`sku`);

-- rename a column
--   'id is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `id` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `id`;

-- rename a column
--   't is renamed from s'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t` TO `s`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `s` TO `t`;

-- rename a column
--   't.schemalint_1 is renamed from x'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`schemalint_1` TO `x`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`x` TO `schemalint_1`;

-- rename a column
--   't.x is renamed from y'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`x` TO `y`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`y` TO `x`;

-- rename a column
--   't.y is renamed from schemalint_1'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`y` TO `schemalint_1`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `t`.`schemalint_1` TO `y`;

