-- cluster
--   'columns are dropped that it is clustered by'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`b`)
-- undo note: files that are there are clustered anew by OPTIMIZE only
ALTER TABLE delta.`/lake/it``s/orders` CLUSTER BY (`a`);

-- drop columns
--   'b is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE takes the data back too
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`b`);

