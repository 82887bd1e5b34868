-- unset properties
--   'property old is declared absent'
--   'property older is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('old' = '1', 'older' = '2')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('old', 'older');

-- set properties
--   'the description is declared'
--   'property delta.enableChangeDataFeed is declared as true'
--   'property team is declared as lake'
--   'feature timestampNtz is declared'
-- adds changeDataFeed
-- adds timestampNtz
-- undo note: needs several statements: declare the old values, and null for new keys; the features stay in the protocol: changeDataFeed, timestampNtz
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('comment' = 'New.', 'delta.enableChangeDataFeed' = 'true', 'team' = 'lake', 'delta.feature.timestampNtz' = 'supported');

