-- store pending column paths
--   'after an interrupted run, the next one must know which column is which'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('schemalint.pending')
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('schemalint.pending' = '{"hash":"1:685763eedb1faf57b40cf58a28b6c1e32a5fbef89a9265ea4eb9414a217fb2b1","columns":{"1":["a3"],"2":["b"],"3":["a"]}}');

-- rename a column
--   'a3 is renamed from a'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a3` TO `a`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `a3`;

-- rename a column
--   'a is renamed from c'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a` TO `c`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `a`;

