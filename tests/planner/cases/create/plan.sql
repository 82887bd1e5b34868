-- create the table
--   'the table is declared and does not exist'
-- adds deletionVectors
-- adds timestampNtz
-- adds typeWidening
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `order_id` bigint NOT NULL COMMENT 'Assigned by the shop.',
  `amount` decimal(12,2),
  `local_time` timestamp_ntz,
  `lines` array<struct<sku: varchar(20) comment 'The shop\'s.', qty_by_store: map<string, int>>>
) USING delta
COMMENT 'One row per order, or two.'
TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'team' = 'sales', 'delta.feature.deletionVectors' = 'supported');

