-- add columns
--   's.y is declared and missing'
--   's.z is declared and missing'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`y`, `s`.`z`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `s`.`y` int AFTER `x`,
  `s`.`z` int AFTER `y`
);

-- drop columns
--   's.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`x`);

