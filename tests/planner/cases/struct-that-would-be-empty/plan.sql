-- add columns
--   's.y is declared and not there'
--   's.z is declared and not there'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`y`, `s`.`z`)
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `s`.`y` int AFTER `x`,
  `s`.`z` int AFTER `y`
);

-- drop columns
--   's.x is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`s`.`x`);

