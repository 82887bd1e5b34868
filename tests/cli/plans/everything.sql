-- sales.orders (/lake/sales/orders)

-- old is listed under dropped
-- from contracts/orders.yml:11
-- risk: whoever uses old fails\x3b its data stays in the files, out of reach
-- risk: tracked streams stop, and go on with allowSourceColumnDrop only
-- needs approval: destructive
-- undo: cannot be undone in place: RESTORE TABLE takes the data back too
ALTER TABLE delta.`/lake/sales/orders` DROP COLUMNS (`old`);

-- total was amount
-- from contracts/orders.yml:7
-- risk: whoever uses the old name of total fails
-- risk: tracked streams stop, and go on with allowSourceColumnRename only
-- undo: ALTER TABLE delta.`/lake/sales/orders` RENAME COLUMN `total` TO `amount`
ALTER TABLE delta.`/lake/sales/orders` RENAME COLUMN `amount` TO `total`;

-- note is declared and not there
-- from contracts/orders.yml:10
-- risk: tracked streams stop once
-- undo: ALTER TABLE delta.`/lake/sales/orders` DROP COLUMNS (`note`)
ALTER TABLE delta.`/lake/sales/orders` ADD COLUMNS (
  `note` string COMMENT 'Free text.' AFTER `total`
);

-- total is decimal(10,2) and declared as decimal(12,2)
-- from contracts/orders.yml:6
-- risk: readers get total in its new type
-- risk: tracked streams stop, and go on with allowSourceColumnTypeChange only
-- undo: cannot be undone in place: RESTORE TABLE takes the data back too
ALTER TABLE delta.`/lake/sales/orders` ALTER COLUMN
  `total` TYPE decimal(12,2);

-- the constraint positive is declared
-- from contracts/orders.yml:12
-- risk: a client that does not know checkConstraints cannot write to the table
-- risk: reads all data, and fails if a row is against it
-- risk: later writes of such rows fail
-- risk: tracked streams stop once
-- undo: ALTER TABLE delta.`/lake/sales/orders` DROP CONSTRAINT `positive`
ALTER TABLE delta.`/lake/sales/orders` ADD CONSTRAINT `positive` CHECK (total > 0);

-- then prove it: schemalint check --live --all --strict && schemalint plan --exit-code
