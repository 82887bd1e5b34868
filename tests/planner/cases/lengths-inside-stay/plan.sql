-- rename a column
--   'c is renamed from b'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `c` TO `b`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `b` TO `c`;

-- rename a column
--   'a.z is renamed from y'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a`.`z` TO `y`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `a`.`y` TO `z`;

-- add columns
--   'a.new is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`a`.`new`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `a`.`new` int AFTER `z`
);

-- alter columns
--   'the comment of a.x is declared'
--   'a.z is int and declared as bigint'
--   'c is declared nullable'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a`.`x` COMMENT 'said',
  `a`.`z` TYPE bigint,
  `c` DROP NOT NULL;

-- alter columns
--   'the default of a.x is declared'
--   'the comment of c is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a`.`x` DROP DEFAULT,
  `c` COMMENT ''
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `a`.`x` SET DEFAULT 'x',
  `c` COMMENT 'said';

-- alter columns
--   'the default of c is declared'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `c` DROP DEFAULT
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `c` SET DEFAULT NULL;

