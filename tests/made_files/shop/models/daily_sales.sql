{{ config(materialized='table', alias='sales_by_day', schema='marts') }}
select * from {{ ref('orders_replaced') }}
