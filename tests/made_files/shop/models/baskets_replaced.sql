{{ config(materialized='table', tblproperties={'delta.enableChangeDataFeed': 'true'}) }}
select * from {{ ref('baskets') }}
