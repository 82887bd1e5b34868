-- alter columns
--   's.`y``.z` is int and declared as bigint'
--   'the comment of s.`y``.z` is declared'
--   's.`y``.z` is declared in another position'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` CHANGE COLUMN `s`.`y``.z` `y``.z` bigint COMMENT 'new' FIRST;

-- alter columns
--   's.`y``.z` is declared nullable'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `s`.`y``.z` DROP NOT NULL;

