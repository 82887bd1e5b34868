-- alter columns
--   'd is declared in another position'
--   'c is declared in another position'
--   's.z is declared in another position'
--   's.x is int and declared as bigint'
--   'e is int and declared as bigint'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `d` FIRST,
  `c` AFTER `a`,
  `s`.`z` FIRST,
  `s`.`x` TYPE bigint,
  `e` TYPE bigint;

