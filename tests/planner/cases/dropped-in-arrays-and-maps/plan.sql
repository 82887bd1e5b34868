-- drop columns
--   'lines.element.qty is listed under dropped'
--   'by_sku.value.qty is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`lines`.element.`qty`, `by_sku`.value.`qty`);

