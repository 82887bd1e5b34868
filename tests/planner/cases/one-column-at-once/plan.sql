-- alter columns
--   '`b``c` is decimal(10,2) and declared as decimal(12,2)'
--   'the comment of `b``c` is declared'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` CHANGE COLUMN `b``c` `b``c` decimal(12,2) COMMENT 'It\'s new.';

