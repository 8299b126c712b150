alter table ledger_identity add column currency text;
comment on column ledger_identity.currency is
  'The currency of all amounts (ISO 4217). The first start of the ledger decides it. Null before.';
