-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:238d23a5277c52155be76d1e18849dd0bd6f7cd754fd1eb6b9edd4f28b651934","columns":{"1":["a2"],"2":null,"3":["c"]}}');

-- drop a constraint
--   'the constraint old is declared absent'
--   'the constraint positive is declared differently'
-- undo note: needs several statements: one adds each constraint again
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.constraints.old', 'delta.constraints.positive');

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

-- rename a column
--   'a2 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a2` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `a2`;

-- add columns
--   'd is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`d`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `d` date AFTER `c`
);

-- alter columns
--   'a2 is int and declared as bigint'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a2` TYPE bigint;

-- add a constraint
--   'the constraint new is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `new`
-- scans the data
ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `new` CHECK (d IS NOT NULL);

-- add a constraint
--   'the constraint positive is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `positive`
-- scans the data
ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `positive` CHECK (a2 > 0);

-- cluster
--   'the clustering is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a2`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`c`, `d`);

