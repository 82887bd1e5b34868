-- drop a constraint
--   'the constraint small is declared absent'
--   'the constraint positive blocks a change of columns and is added again'
-- undo note: needs several statements: one adds each constraint again
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.constraints.small', 'delta.constraints.positive');

-- add columns
--   'b is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `b` int AFTER `a`
);

-- alter columns
--   'a is int and declared as bigint'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` TYPE bigint;

-- add a constraint
--   'the constraint positive is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `positive`
-- scans the data
ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `positive` CHECK (a > 0);

-- unset properties
--   'property delta.enableTypeWidening is declared absent'
--   'property old is declared absent'
--   'property older is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'old' = '1', 'older' = '2')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableTypeWidening', 'old', 'older');

-- set properties
--   'the description is declared'
--   'property delta.dataSkippingStatsColumns is declared as a,b'
--   'property team is declared as sales'
-- undo note: needs several statements: declare the old values, and null for new keys
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('comment' = 'New.', 'delta.dataSkippingStatsColumns' = 'a,b', 'team' = 'sales');

