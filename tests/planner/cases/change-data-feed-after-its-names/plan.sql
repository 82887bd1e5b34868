-- drop columns
--   '_change_type is listed under dropped'
-- undo note: cannot be undone in place: RESTORE TABLE also reverts the data
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP COLUMNS (`_change_type`);

-- rename a column
--   'source_version is renamed from _commit_version'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `source_version` TO `_commit_version`
ALTER TABLE delta.`/lake/it``s/orders` RENAME COLUMN `_commit_version` TO `source_version`;

-- set properties
--   'property delta.enableChangeDataFeed is declared as true'
--   'property team is declared as sales'
-- adds changeDataFeed
-- undo: ALTER TABLE delta.`/lake/it``s/orders` UNSET TBLPROPERTIES ('delta.enableChangeDataFeed', 'team')
-- undo note: the features stay in the protocol: changeDataFeed
ALTER TABLE delta.`/lake/it``s/orders` SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'team' = 'sales');

