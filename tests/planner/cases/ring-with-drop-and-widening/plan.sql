-- set properties
--   'feature allowColumnDefaults is asked for'
-- adds allowColumnDefaults
-- undo note: the features stay in the protocol: allowColumnDefaults
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');

-- note what is on its way
--   'a run that is cut short must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:fedf0b4123b568b4ea3d5a500e3c394b79d095b18587ea6c397ded662852bf3a","columns":{"1":["b"],"2":["c"],"3":null}}');

-- drop columns
--   'c is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`c`);

-- rename a column
--   'c was b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `c`;

-- rename a column
--   'b was a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `b`;

-- add columns
--   'd is declared and not there'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` string AFTER `c`
);

-- alter columns
--   'b is int and declared as bigint'
--   'the default of d is declared'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `b` TYPE bigint,
  `d` SET DEFAULT 'x';

