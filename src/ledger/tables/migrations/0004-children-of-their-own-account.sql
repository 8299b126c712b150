-- A refund or dispute shows details of a payment only when both belong to one account. Those that showed more show their
-- own details, as if their payment were unknown.
update transaction as child set
  reference = child.details ->> 'reference',
  email = child.details ->> 'email',
  cardholder_name = child.details ->> 'cardholder_name',
  card_brand = child.details ->> 'card_brand',
  first_digits_card_number = child.details ->> 'first_digits_card_number',
  last_digits_card_number = child.details ->> 'last_digits_card_number',
  payment_details = (
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(child.details)
    where key in (
      'description', 'reference', 'email', 'cardholder_name', 'card_brand_label', 'first_digits_card_number',
      'last_digits_card_number', 'expiry_date', 'card_type', 'wallet'
    )
  )
from transaction as parent
where parent.external_id = child.parent_external_id
  and child.transaction_type <> 'PAYMENT'
  and (child.gateway_account_id = parent.gateway_account_id) is not true;
