-- cluster
--   'clustering columns are dropped'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`b`)
-- undo note: only OPTIMIZE clusters existing files again
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`);

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

