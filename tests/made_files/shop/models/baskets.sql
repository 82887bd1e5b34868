{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select 1 as basket_id
