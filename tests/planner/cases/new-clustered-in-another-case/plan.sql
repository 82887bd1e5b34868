-- create the table
--   'the table is declared and does not exist'
-- adds clustering
-- adds domainMetadata
-- undo note: schemalint never drops a table
CREATE TABLE delta.`/lake/it``s/orders` (
  `Id` bigint,
  `Ship` struct<City: string>
) USING delta
CLUSTER BY (`Id`, `Ship`.`City`);

