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

-- set properties
--   'property delta.enableTypeWidening is declared as false'
--   'property team is declared as sales'
-- undo note: needs several statements: declare the old values, and null for new keys
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false', 'team' = 'sales');

