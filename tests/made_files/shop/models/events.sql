{{ config(materialized='incremental', on_schema_change='append_new_columns', partition_by=['day']) }}
select 1 as event_id
