{% snapshot orders_snapshot %}
{{ config(target_schema='snapshots', unique_key='order_id', strategy='check', check_cols='all', file_format='delta') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
