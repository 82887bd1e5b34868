{{ config(materialized='ephemeral') }}
select * from {{ ref('orders') }}
