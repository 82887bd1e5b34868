-- alter columns
--   'v is varchar(5) and declared as varchar(9)'
--   'c is char(3) and declared as varchar(4)'
--   'w is varchar(3) and declared as string'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `v` TYPE varchar(9),
  `c` TYPE varchar(4),
  `w` TYPE string;

