{{ config(materialized='table', tblproperties={'delta.columnMapping.mode': 'name'}) }}
select 1 as id
