-- set properties
--   'feature allowColumnDefaults is declared'
-- adds allowColumnDefaults
-- undo note: the features stay in the protocol: allowColumnDefaults
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');

-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:fedf0b4123b568b4ea3d5a500e3c394b79d095b18587ea6c397ded662852bf3a","columns":{"1":["b"],"2":["c"],"3":null}}');

-- drop columns
--   'c is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`c`);

-- rename a column
--   'c is renamed from b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `c`;

-- rename a column
--   'b is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `b`;

-- add columns
--   'd is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` string AFTER `c`
);

-- alter columns
--   'b is int and declared as bigint'
--   'the default of d is declared'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `b` TYPE bigint,
  `d` SET DEFAULT 'x';

