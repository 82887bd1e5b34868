-- alter columns
--   'the comment of b is declared'
--   'b is declared in another position'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CHANGE COLUMN `b` `b` varchar(3) COMMENT 'old' AFTER `a`
ALTER TABLE delta.`/lake/it``s/orders` CHANGE COLUMN `b` `b` varchar(3) COMMENT 'It\'s new.' AFTER `d`;

