-- set properties
--   'property team is declared as sales'
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'sales');

-- alter columns
--   'a is int and declared as bigint'
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a` TYPE bigint;

-- add columns
--   'b is declared and not there'
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `b` int AFTER `a`
);

-- set properties
--   'property delta.enableTypeWidening is declared as false'
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false');

