-- drop a constraint
--   'the constraint positive is declared absent'
-- undo: ALTER TABLE delta.`/lake/it``s/orders` ADD CONSTRAINT `positive` CHECK (a > 0)
ALTER TABLE delta.`/lake/it``s/orders` DROP CONSTRAINT `positive`;

-- drop a feature
--   'checkConstraints is listed under drop_features'
-- undo note: the feature can be added again
-- needs --allow destructive
ALTER TABLE delta.`/lake/it``s/orders` DROP FEATURE `checkConstraints`;

