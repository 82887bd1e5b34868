{{ config(materialized='incremental', on_schema_change='fail', unique_key='customer_id', incremental_strategy='merge') }}
select 1 as customer_id
