-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:a274b1ba9b3fe0553ad568214e018c49ea37c8fa17facd5795ab58c2eb2a1821","columns":{"1":["A"],"2":["b"],"3":["c"]}}');

-- rename a column
--   'schemalint_1 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `schemalint_1` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `schemalint_1`;

-- rename a column
--   'A is renamed from schemalint_1'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `A` TO `schemalint_1`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `schemalint_1` TO `A`;

