-- set properties
--   'the description is declared'
--   'property delta.enableChangeDataFeed is declared as true'
--   'property team is declared as lake'
--   'feature timestampNtz is asked for'
-- adds changeDataFeed
-- adds timestampNtz
-- undo note: not by one statement: declare the old values, and null for what is new; the features stay in the protocol: changeDataFeed, timestampNtz
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('comment' = 'New.', 'delta.enableChangeDataFeed' = 'true', 'team' = 'lake', 'delta.feature.timestampNtz' = 'supported');

-- unset properties
--   'property old is declared absent'
--   'property older is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('old' = '1', 'older' = '2')
ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('old', 'older');

