-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:fcc69d7399a2d311e55e4aa133aaa437e462ae60119dc31f273b5a339d6fe526","columns":{"1":["b"],"2":["a"],"3":["c"]}}');

-- rename a column
--   'schemalint_1 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `schemalint_1` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `schemalint_1`;

-- rename a column
--   'a is renamed from b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `a`;

-- rename a column
--   'b is renamed from schemalint_1'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `schemalint_1`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `schemalint_1` TO `b`;

