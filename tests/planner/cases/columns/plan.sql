-- set properties
--   'property delta.enableTypeWidening is declared as true'
-- adds typeWidening
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableTypeWidening')
-- undo note: the features stay in the protocol: typeWidening
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true');

-- add columns
--   'channel is declared and missing'
--   'day is declared and missing'
--   'shipping.street is declared and missing'
--   'shipping.country is declared and missing'
-- undo note: cannot be undone: Delta drops columns only with column mapping
ALTER TABLE delta.`/lake/it``s/orders` ADD COLUMNS (
  `channel` string COMMENT 'web or shop' FIRST,
  `day` date AFTER `nothing`,
  `shipping`.`street` string FIRST,
  `shipping`.`country` struct<iso: char(2)> AFTER `zip`
);

-- alter columns
--   'order_id is int and declared as bigint'
--   'amount is decimal(10,2) and declared as decimal(12,4)'
--   'by_sku.key is int and declared as bigint'
--   'by_sku.value.element is int and declared as bigint'
--   'shipping.zip is int and declared as bigint'
--   'the comment of shipping.city is declared'
--   'nothing is void and declared as date'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `order_id` TYPE bigint,
  `amount` TYPE decimal(12,4),
  `by_sku`.key TYPE bigint,
  `by_sku`.value.element TYPE bigint,
  `shipping`.`zip` TYPE bigint,
  `shipping`.`city` COMMENT 'Free text.',
  `nothing` TYPE date;

-- alter columns
--   'order_id is declared nullable'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/it``s/orders` ALTER COLUMN
  `order_id` DROP NOT NULL;

