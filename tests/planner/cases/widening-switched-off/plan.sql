-- set properties
--   'property team is declared as sales'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('team')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'sales');

-- add columns
--   'b is declared and not there'
-- undo note: cannot be undone: columns are dropped with column mapping only
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `b` int AFTER `a`
);

-- alter columns
--   'a is int and declared as bigint'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` TYPE bigint;

-- set properties
--   'property delta.enableTypeWidening is declared as false'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false');

