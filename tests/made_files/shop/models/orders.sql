{{ config(materialized='incremental', on_schema_change='append_new_columns', incremental_strategy='append') }}
select 1 as order_id
