-- set properties
--   'property team is declared as sales'
--   'feature changeDataFeed is declared'
--   'feature checkConstraints is declared'
--   'feature columnMapping is declared'
--   'feature generatedColumns is declared'
-- adds changeDataFeed
-- adds checkConstraints
-- adds columnMapping
-- adds generatedColumns
-- undo: ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'shop')
-- undo note: the features stay in the protocol: changeDataFeed, checkConstraints, columnMapping, generatedColumns
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('team' = 'sales', 'delta.feature.changeDataFeed' = 'supported', 'delta.feature.checkConstraints' = 'supported', 'delta.feature.columnMapping' = 'supported', 'delta.feature.generatedColumns' = 'supported');

