{{ config(materialized='table', partition_by=['day']) }}
select * from {{ ref('events') }}
