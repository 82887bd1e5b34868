{{ config(materialized='table') }}
select 1 as total
