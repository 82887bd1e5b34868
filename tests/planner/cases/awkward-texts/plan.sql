-- set properties
--   'the description is declared'
--   "property it's is declared as ${spark.app.name}"
--   "property team is declared as a\\'b"
-- undo note: needs several statements: declare the old values, and null for new keys
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('comment' = 'It\'s -- /* not */ $\{HOME}; \\ " ` é', 'it\'s' = '$\{spark.app.name}', 'team' = 'a\\\'b');

-- add columns
--   '`-- c` is declared and missing'
--   'element.element.element is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`-- c`, `element`.element.`element`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `-- c` int AFTER `element`,
  `element`.element.`element` struct<key: int comment '$\{y}', `größe`: int> AFTER `>`
);

-- alter columns
--   '`back``quote` is int and declared as bigint'
--   'the comment of `two\nlines` is declared'
--   'element.element.`a.b` is int and declared as bigint'
--   'the comment of element.element.> is declared'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `back``quote` TYPE bigint,
  `two
lines` COMMENT 'first\nsecond\'; DROP TABLE x --',
  `element`.element.`a.b` TYPE bigint,
  `element`.element.`>` COMMENT '$$\{x}$';

