-- sales.orders (/lake/sales/orders)

-- old is listed under dropped
-- from contracts/orders.yml:11
-- risk: queries that use old fail, its data stays in the files, unreadable
-- needs approval: destructive
-- undo: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/sales/orders` DROP COLUMNS (`old`);

-- total is renamed from amount
-- from contracts/orders.yml:7
-- risk: queries that use the old name of total fail
-- undo: ALTER TABLE delta.`/lake/sales/orders` RENAME COLUMN `total` TO `amount`
ALTER TABLE delta.`/lake/sales/orders` RENAME COLUMN `amount` TO `total`;

-- note is declared and missing
-- from contracts/orders.yml:10
-- risk: writers that name no columns fail: INSERT (DELTA_INSERT_COLUMN_ARITY_MISMATCH), MERGE with * (DELTA_MERGE_UNRESOLVED_EXPRESSION)
-- undo: ALTER TABLE delta.`/lake/sales/orders` DROP COLUMNS (`note`)
ALTER TABLE delta.`/lake/sales/orders` ADD COLUMNS (
  `note` string COMMENT 'Free text.' AFTER `total`
);

-- total is decimal(10,2) and declared as decimal(12,2)
-- from contracts/orders.yml:6
-- risk: readers get total in its new type
-- undo: cannot be undone in place: RESTORE TABLE also reverts the data
ALTER TABLE delta.`/lake/sales/orders` ALTER COLUMN
  `total` TYPE decimal(12,2);

-- the constraint positive is declared
-- from contracts/orders.yml:12
-- risk: clients without checkConstraints lose write access
-- risk: reads all data, fails if a row violates it
-- risk: later writes of violating rows fail
-- undo: ALTER TABLE delta.`/lake/sales/orders` DROP CONSTRAINT `positive`
-- after the undo: the features stay in the protocol: checkConstraints
ALTER TABLE delta.`/lake/sales/orders` ADD CONSTRAINT `positive` CHECK (total > 0);

-- afterwards, verify: schemalint check --live --all --strict && schemalint plan --exit-code
-- To approve the steps that need it, in the configuration or with apply --approved HASH:
-- approved-plans = [
--   "2:hash",  # sales.orders in dev: destructive
-- ]
