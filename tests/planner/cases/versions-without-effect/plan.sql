-- set properties
--   'property team is declared as sales'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('team')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'sales');

