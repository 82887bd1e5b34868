-- set properties
--   'property team is declared as sales'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('team')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'sales');

-- unset properties
--   'property delta.columnMapping.mode is declared absent'
-- undo note: Delta cannot restore delta.columnMapping.mode
-- rewrites data files
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.columnMapping.mode');

