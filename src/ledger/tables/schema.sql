-- Generated from migrations/ by npm run codegen, to be read. Do not edit.
-- Hash of the migrations and of this text: 69b512f8b1b157e8da7dc5757576abbb9c3868cb3e3f64e7da094a12cb755554

-- text similarity measurement and index searching based on trigrams
CREATE EXTENSION pg_trgm;

-- The numbers of the records of accesses.
CREATE SEQUENCE access_record_id;

-- Ids of summaries.
CREATE SEQUENCE transaction_summary_id;

-- Who looked at personal data, and who changed something: a row for each response to a known caller, and for each
-- command. Rows are added in the order of id and never changed. It has no personal data of payers.
CREATE TABLE access_record (
  id bigint NOT NULL DEFAULT nextval('access_record_id'::regclass),
  sql_transaction bigint NOT NULL DEFAULT current_sql_transaction(),
  recorded_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- The instant of the response, by the clock of the process.
  accessed_at timestamp with time zone NOT NULL,
  service text NOT NULL,
  operation text NOT NULL,
  subject text,
  client text,
  gateway_account_ids text[] NOT NULL,
  -- The first 20 of the ids of resources. In resource_count is the number of all, or null if it is unknown.
  resource_ids text[] NOT NULL,
  resource_count integer,
  status smallint NOT NULL,
  request_id text,
  reason text,
  CONSTRAINT access_record_pkey PRIMARY KEY (id, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE INDEX access_record_recorded_at ON ONLY access_record USING btree (recorded_at);
CREATE INDEX access_record_resource_ids ON ONLY access_record USING gin (resource_ids) WITH (gin_pending_list_limit='256');
CREATE INDEX access_record_subject ON ONLY access_record USING btree (subject, id);

-- Records of a month that has no partition of its own.
CREATE TABLE access_record_default PARTITION OF access_record DEFAULT;

-- The records that were removed since they were older than AUDIT_KEEP. Their entries in the log have no source any
-- more.
CREATE TABLE access_record_removal (
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  removed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT access_record_removal_pkey PRIMARY KEY (first_id)
);

-- The processes that record accesses, so that each record is stored once.
CREATE TABLE access_session (
  id uuid NOT NULL,
  -- The position before the last statement.
  former bigint NOT NULL,
  -- The last access of the process that is stored.
  "position" bigint NOT NULL,
  changed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT access_session_pkey PRIMARY KEY (id)
);

-- What the events of an agreement amount to: one row for each.
CREATE TABLE agreement (
  external_id text NOT NULL,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text NOT NULL,
  created_date timestamp with time zone NOT NULL,
  event_count integer NOT NULL,
  first_event_id bigint NOT NULL,
  reference text,
  cancelled_date timestamp with time zone,
  cancelled_by_user_email text,
  details jsonb NOT NULL,
  -- As in transaction.
  folded jsonb,
  -- As in transaction.
  size integer NOT NULL,
  CONSTRAINT agreement_pkey PRIMARY KEY (external_id)
);
CREATE INDEX agreement_created_date_external_id_idx ON agreement USING btree (created_date DESC, external_id DESC);
CREATE INDEX agreement_gateway_account_id_created_date_external_id_idx ON agreement USING btree (gateway_account_id, created_date DESC, external_id DESC);
CREATE INDEX agreement_lower_idx ON agreement USING gin (lower(reference) gin_trgm_ops);
CREATE INDEX agreement_service_id_created_date_external_id_idx ON agreement USING btree (service_id, created_date DESC, external_id DESC);

-- One row: the key with which cursors are sealed, the same for all processes of the ledger. The first of them adds the
-- row.
CREATE TABLE cursor_key (
  key bytea NOT NULL DEFAULT sha256(convert_to(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid()), 'utf8'::name)),
  only_row boolean NOT NULL DEFAULT true,
  CONSTRAINT cursor_key_pkey PRIMARY KEY (only_row),
  CONSTRAINT cursor_key_only_row_check CHECK (only_row)
);

-- Messages that can never succeed, and events that a target has rejected to the last attempt. They stay until an
-- operator sends them again or removes them.
CREATE TABLE dead_letter (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- The id of the message in the queue, so that a message that is delivered again is stored once.
  source_id text NOT NULL,
  body bytea NOT NULL,
  reason text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- When an operator has discarded the message, which stays with the reason in note.
  discarded_at timestamp with time zone,
  note text,
  -- The target that has rejected the event to the last attempt. Null for a message that could not be stored.
  target text,
  event_id bigint,
  CONSTRAINT parked_message_pkey PRIMARY KEY (id),
  CONSTRAINT parked_message_source_id_key UNIQUE (source_id)
);
CREATE INDEX dead_letter_discarded_idx ON dead_letter USING btree (id) WHERE discarded_at IS NOT NULL;
CREATE INDEX dead_letter_open_idx ON dead_letter USING btree (id) WHERE discarded_at IS NULL;

-- Events that a target has rejected, and later events of their resources, which wait behind them.
CREATE TABLE deferred_delivery (
  target text NOT NULL,
  sql_transaction bigint NOT NULL,
  event_id bigint NOT NULL,
  resource_type text NOT NULL,
  resource_external_id text NOT NULL,
  attempts integer NOT NULL,
  next_attempt_at timestamp with time zone NOT NULL,
  -- Why the last attempt has failed. Null if there was none.
  reason text,
  CONSTRAINT deferred_delivery_pkey PRIMARY KEY (target, resource_external_id, resource_type, sql_transaction, event_id)
);
CREATE INDEX deferred_delivery_due_idx ON deferred_delivery USING btree (target, next_attempt_at);

-- Events of resources, as their messages have reported them. Only a redaction changes rows, and everything else is
-- computed from them.
CREATE TABLE event (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  resource_type text NOT NULL,
  resource_external_id text NOT NULL,
  parent_resource_external_id text,
  "timestamp" timestamp with time zone NOT NULL,
  event_type text NOT NULL,
  service_id text,
  live boolean,
  event_details jsonb NOT NULL,
  -- The size of the row as JSON, in bytes, so that a page can be limited before it is read. Null in older rows.
  size integer,
  -- The members of a message that are no columns here, without those that are null. Null if there are none.
  other_members jsonb,
  -- When the ledger accepted the event: when its message was sent, or its request received. Null in older rows.
  accepted_at timestamp with time zone,
  CONSTRAINT event_pkey PRIMARY KEY (id),
  CONSTRAINT event_resource_external_id_resource_type_timestamp_event_ty_key UNIQUE (resource_external_id, resource_type, "timestamp", event_type)
);
CREATE INDEX event_agreement_idx ON event USING btree ("left"(event_details ->> 'agreement_external_id'::text, 255), resource_external_id) WHERE resource_type = 'payment_instrument'::text;
CREATE INDEX event_correction_idx ON event USING btree (resource_external_id) WHERE event_type = 'REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT'::text;
CREATE INDEX event_newest_idx ON event USING btree ("timestamp" DESC, id DESC);
CREATE INDEX event_parent_resource_external_id_idx ON event USING btree (parent_resource_external_id) WHERE parent_resource_external_id IS NOT NULL;
-- Adds each new event to event_feed, with the account of its resource. Readers of the feed follow its order, since ids
-- of events are given out before commits.
CREATE TRIGGER add_to_event_feed AFTER INSERT ON event REFERENCING NEW TABLE AS new_event FOR EACH STATEMENT EXECUTE FUNCTION add_to_event_feed();

-- The order in which readers get the events: that of the SQL transactions. All of those below the oldest one in flight
-- have ended, so a reader that reads only these misses nothing.
CREATE TABLE event_feed (
  -- The id of the SQL transaction that has added the entry, with the epoch in the bits above. 0 for events that are
  -- older than this table.
  sql_transaction bigint NOT NULL,
  event_id bigint NOT NULL,
  -- The account that the event names, or the account of its resource.
  gateway_account_id text,
  -- The event has an earlier entry, of a time when its account was not known.
  only_of_account boolean NOT NULL DEFAULT false,
  CONSTRAINT event_feed_pkey PRIMARY KEY (sql_transaction, event_id)
);
CREATE INDEX event_feed_account_idx ON event_feed USING btree (gateway_account_id, sql_transaction, event_id);
CREATE INDEX event_feed_event_idx ON event_feed USING btree (event_id);

-- One row. The ids of SQL transactions begin again in a new server, to which a dump is restored. There the epoch is a
-- later one.
CREATE TABLE event_feed_epoch (
  epoch bigint NOT NULL,
  -- The highest id of the events that are older than the feed.
  older_event_id bigint NOT NULL,
  only_row boolean NOT NULL DEFAULT true,
  CONSTRAINT event_feed_epoch_pkey PRIMARY KEY (only_row),
  CONSTRAINT event_feed_epoch_only_row_check CHECK (only_row)
);

-- The transactions that a payout settled before an event moved them to another one, so that payouts can be read as of a
-- position.
CREATE TABLE former_settlement (
  gateway_payout_id text NOT NULL,
  external_id text NOT NULL,
  CONSTRAINT former_settlement_pkey PRIMARY KEY (gateway_payout_id, external_id)
);

-- How long events took from their acceptance until a destination had them, in all processes together: a row for each
-- time, rounded up to two digits, of each minute. Rows older than ten minutes are removed.
CREATE TABLE freshness_minute (
  minute timestamp with time zone NOT NULL,
  -- lookup, report, feed, or "target " with the shown name of a target.
  destination text NOT NULL,
  visible_ms bigint NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT freshness_minute_pkey PRIMARY KEY (minute, destination, visible_ms)
);

-- Positions of the feed at instants: each quarter of an hour, since at one of these the days of each time zone begin.
-- Everything that was stored up to the instant is before the position. The first row is of the instant at which this
-- table was made. Earlier positions are not known.
CREATE TABLE instant_position (
  instant timestamp with time zone NOT NULL,
  sql_transaction bigint NOT NULL,
  CONSTRAINT instant_position_pkey PRIMARY KEY (instant)
);

-- What became of the messages of each minute, in all processes together. Rows older than a day are removed.
CREATE TABLE intake_minute (
  minute timestamp with time zone NOT NULL,
  stored bigint NOT NULL,
  duplicate bigint NOT NULL,
  rebuilt bigint NOT NULL,
  dead_letter bigint NOT NULL,
  retried bigint NOT NULL,
  -- Messages whose time of sending is known. The other columns of the lag are about the times from their sending to
  -- their commit.
  lag_messages bigint NOT NULL,
  lag_ms_sum bigint NOT NULL,
  lag_ms_max bigint NOT NULL,
  CONSTRAINT intake_minute_pkey PRIMARY KEY (minute)
);

-- One row: the id that distinguishes the events of this ledger from those of another one. A copy of the database gets
-- another id.
CREATE TABLE ledger_identity (
  ledger_id uuid NOT NULL,
  -- The server and the number of the database when the id was made.
  database text NOT NULL,
  only_row boolean NOT NULL DEFAULT true,
  -- The currency of all amounts (ISO 4217). The first start of the ledger decides it. Null before.
  currency text,
  CONSTRAINT ledger_identity_pkey PRIMARY KEY (only_row),
  CONSTRAINT ledger_identity_only_row_check CHECK (only_row)
);

-- Every metadata key that payments of an account have ever had. They are the columns of a CSV export.
CREATE TABLE metadata_key (
  gateway_account_id text NOT NULL,
  key text NOT NULL,
  -- As in payout.
  known_since bigint NOT NULL DEFAULT 0,
  CONSTRAINT metadata_key_pkey PRIMARY KEY (gateway_account_id, key)
);
CREATE INDEX metadata_key_in_order_idx ON metadata_key USING btree (gateway_account_id, key COLLATE "C");
-- As for payout.
CREATE TRIGGER note_known_since BEFORE INSERT ON metadata_key FOR EACH ROW EXECUTE FUNCTION note_known_since();

-- The applied files of src/ledger/tables/migrations/, each with the SHA-256 of its text. Null if a release without
-- checksums has applied the file.
CREATE TABLE migration (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  checksum text,
  CONSTRAINT migration_pkey PRIMARY KEY (name)
);

-- What the events of a payment instrument amount to: one row for each.
CREATE TABLE payment_instrument (
  external_id text NOT NULL,
  agreement_external_id text,
  service_id text,
  created_date timestamp with time zone NOT NULL,
  event_count integer NOT NULL,
  details jsonb NOT NULL,
  -- As in transaction.
  folded jsonb,
  -- As in transaction.
  size integer NOT NULL,
  CONSTRAINT payment_instrument_pkey PRIMARY KEY (external_id)
);
CREATE INDEX payment_instrument_agreement_external_id_created_date_exter_idx ON payment_instrument USING btree (agreement_external_id, created_date DESC, external_id DESC);

-- The account of a payment instrument, to which its events in the feed belong: that of the first of its agreements
-- whose account was known. Without a row it is that of its agreement in the projection.
CREATE TABLE payment_instrument_account (
  external_id text NOT NULL,
  gateway_account_id text,
  CONSTRAINT payment_instrument_account_pkey PRIMARY KEY (external_id)
);

-- What the events of a payout amount to: one row for each.
CREATE TABLE payout (
  gateway_payout_id text NOT NULL,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text NOT NULL,
  created_date timestamp with time zone NOT NULL,
  event_count integer NOT NULL,
  paid_out_date timestamp with time zone,
  details jsonb NOT NULL,
  -- As in transaction.
  folded jsonb,
  -- The SQL transaction, as in event_feed, that has written the row. 0 if an older release has.
  known_since bigint NOT NULL DEFAULT 0,
  CONSTRAINT payout_pkey PRIMARY KEY (gateway_payout_id)
);
CREATE INDEX payout_account_newest_idx ON payout USING btree (gateway_account_id, created_date DESC, gateway_payout_id DESC);
CREATE INDEX payout_gateway_account_id_paid_out_date_idx ON payout USING btree (gateway_account_id, paid_out_date);
CREATE INDEX payout_newest_idx ON payout USING btree (created_date DESC, gateway_payout_id DESC);
CREATE INDEX payout_paid_out_date_idx ON payout USING btree (paid_out_date);
-- As keep_versions_of_update.
CREATE TRIGGER keep_versions_of_delete AFTER DELETE ON payout REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION keep_payout_versions();
-- Keeps what the payouts were before.
CREATE TRIGGER keep_versions_of_update AFTER UPDATE ON payout REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION keep_payout_versions();
-- Notes the SQL transaction that writes the row, whichever release it is.
CREATE TRIGGER note_known_since BEFORE INSERT OR UPDATE ON payout FOR EACH ROW EXECUTE FUNCTION note_known_since();

-- What a payout was before an SQL transaction has changed or removed it, so that payouts can be read as of a position.
CREATE TABLE payout_version (
  gateway_payout_id text NOT NULL,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text NOT NULL,
  created_date timestamp with time zone NOT NULL,
  event_count integer NOT NULL,
  paid_out_date timestamp with time zone,
  details jsonb NOT NULL,
  folded jsonb,
  -- The SQL transaction that has written the row.
  known_since bigint NOT NULL,
  -- The SQL transaction that has changed or removed the row.
  replaced_in bigint NOT NULL
);
CREATE INDEX payout_version_account_idx ON payout_version USING btree (gateway_account_id, created_date);
CREATE INDEX payout_version_payout_idx ON payout_version USING btree (gateway_payout_id);

-- Where the publisher of each target is in the feed of events.
CREATE TABLE publication (
  -- The URL of the target without credentials.
  target text NOT NULL,
  -- The events up to here are delivered, deferred, or set aside as dead letters.
  sql_transaction bigint NOT NULL,
  event_id bigint NOT NULL,
  "timestamp" timestamp with time zone NOT NULL,
  -- When everything in the feed was sent for the last time.
  up_to_date_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Why the target takes nothing now. Null if it does.
  problem text,
  -- The process that publishes. Another one may when owned_until is over.
  owner uuid,
  owned_until timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT publication_pkey PRIMARY KEY (target)
);

-- Resources whose personal data is erased, also from events that are stored later. Rows are added and never changed.
CREATE TABLE redaction (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- As in event_feed.
  sql_transaction bigint NOT NULL DEFAULT current_sql_transaction(),
  resource_external_id text NOT NULL,
  -- The metadata of the payment is not erased, unless another row of the resource erases it.
  keeps_metadata boolean NOT NULL,
  redacted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT redaction_pkey PRIMARY KEY (id),
  CONSTRAINT redaction_resource_external_id_keeps_metadata_key UNIQUE (resource_external_id, keeps_metadata)
);
-- Redactions in the order of the feed.
CREATE INDEX redaction_sql_transaction_idx ON redaction USING btree (sql_transaction, id);

-- What the events of a payment, refund or dispute amount to: one row for each. Columns are searched, sorted or joined
-- by, and the details have all other values.
CREATE TABLE transaction (
  external_id text NOT NULL,
  transaction_type text NOT NULL,
  parent_external_id text,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text NOT NULL,
  created_date timestamp with time zone NOT NULL,
  event_count integer NOT NULL,
  reference text,
  email text,
  cardholder_name text,
  card_brand text,
  first_digits_card_number text,
  last_digits_card_number text,
  gateway_transaction_id text,
  gateway_payout_id text,
  agreement_id text,
  -- Of each member of the details of the events, the newest value.
  details jsonb NOT NULL,
  -- What a refund or a dispute shows of its payment. Null in payments.
  payment_details jsonb,
  -- The id of the event that arrived first, which shows whether the transaction arrived after another event.
  first_event_id bigint NOT NULL,
  -- The values of the metadata of a payment as text in lower case, for searches.
  metadata_values text[],
  -- The state of the fold, to which newer events are added without reading the older ones. It holds while it counts as
  -- many events as its row.
  folded jsonb,
  -- The size of the row as JSON, in bytes, so that a page can be limited before it is read. Null in older rows.
  size integer,
  CONSTRAINT transaction_pkey PRIMARY KEY (external_id)
) WITH (fillfactor=80);
CREATE INDEX transaction_agreement_id_idx ON transaction USING btree (agreement_id) WHERE agreement_id IS NOT NULL;
CREATE INDEX transaction_card_brand_idx ON transaction USING btree (card_brand) WHERE card_brand IS NOT NULL;
CREATE INDEX transaction_created_date_external_id_idx ON transaction USING btree (created_date DESC, external_id DESC);
CREATE INDEX transaction_first_digits_card_number_idx ON transaction USING btree (first_digits_card_number) WHERE first_digits_card_number IS NOT NULL;
CREATE INDEX transaction_gateway_account_id_created_date_external_id_idx ON transaction USING btree (gateway_account_id, created_date DESC, external_id DESC);
CREATE INDEX transaction_gateway_transaction_id_idx ON transaction USING btree (gateway_transaction_id) WHERE gateway_transaction_id IS NOT NULL;
CREATE INDEX transaction_last_digits_card_number_idx ON transaction USING btree (last_digits_card_number) WHERE last_digits_card_number IS NOT NULL;
CREATE INDEX transaction_lower_lower1_lower2_idx ON transaction USING gin (lower(reference) gin_trgm_ops, lower(email) gin_trgm_ops, lower(cardholder_name) gin_trgm_ops);
CREATE INDEX transaction_metadata_values_idx ON transaction USING gin (metadata_values);
CREATE INDEX transaction_not_live_idx ON transaction USING btree (gateway_account_id) WHERE live = false;
CREATE INDEX transaction_parent_external_id_idx ON transaction USING btree (parent_external_id) WHERE parent_external_id IS NOT NULL;
CREATE INDEX transaction_payout_account_idx ON transaction USING btree (gateway_payout_id, gateway_account_id) WHERE gateway_payout_id IS NOT NULL;
-- Notes a payout that does not settle the transaction any more.
CREATE TRIGGER note_former_settlement AFTER UPDATE ON transaction FOR EACH ROW WHEN (old.gateway_payout_id <> new.gateway_payout_id) EXECUTE FUNCTION note_former_settlement();
-- Removes the outlines of removed transactions.
CREATE TRIGGER outline_delete AFTER DELETE ON transaction REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION outline_delete();
-- Adds the outlines of new transactions, in the transaction of the statement, whichever release runs it.
CREATE TRIGGER outline_insert AFTER INSERT ON transaction REFERENCING NEW TABLE AS new_row FOR EACH STATEMENT EXECUTE FUNCTION outline_insert();
-- Writes the outlines of transactions whose outline has changed. An update of other columns writes none.
CREATE TRIGGER outline_update AFTER UPDATE ON transaction REFERENCING OLD TABLE AS old_row NEW TABLE AS new_row FOR EACH STATEMENT EXECUTE FUNCTION outline_update();
-- As summarise_insert.
CREATE TRIGGER summarise_delete AFTER DELETE ON transaction REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION record_changes_of_delete();
-- Adds what a statement changes to transaction_change, whichever release runs it.
CREATE TRIGGER summarise_insert AFTER INSERT ON transaction REFERENCING NEW TABLE AS new_row FOR EACH STATEMENT EXECUTE FUNCTION record_changes_of_insert();
-- As summarise_insert.
CREATE TRIGGER summarise_update AFTER UPDATE ON transaction REFERENCING OLD TABLE AS old_row NEW TABLE AS new_row FOR EACH STATEMENT EXECUTE FUNCTION record_changes_of_update();

-- What each SQL transaction has changed in the transactions, in the order of the feed, for good: a row for each
-- transaction and its values. A position in the feed is also one here, so a report can be read as of a position.
-- Summaries are merged from these rows.
CREATE TABLE transaction_change (
  -- As in event_feed. 0 for changes that no merge had added to the summaries when this table was made.
  sql_transaction bigint NOT NULL,
  -- The hour (UTC) in which the transaction was created.
  hour timestamp with time zone NOT NULL,
  -- 1 for a transaction that is in the state since, -1 for one that was before, and 0 if only sums have changed, or
  -- none.
  count integer NOT NULL,
  live boolean,
  moto boolean NOT NULL,
  external_id text NOT NULL,
  gateway_account_id text,
  transaction_type text NOT NULL,
  state text NOT NULL,
  -- Pence, as the other sums, which are those of transaction_summary.
  amount numeric NOT NULL,
  total_amount numeric NOT NULL,
  net_amount numeric NOT NULL,
  fee numeric NOT NULL,
  refunded_amount numeric NOT NULL,
  gross_amount numeric NOT NULL,
  -- The state in which the transaction was before, with the sums before. Null if the state has not changed, or if a row
  -- of its own has the values before, since others have changed, too.
  state_before text,
  amount_before numeric,
  total_amount_before numeric,
  net_amount_before numeric,
  fee_before numeric,
  refunded_amount_before numeric,
  gross_amount_before numeric
);
CREATE INDEX transaction_change_hour_idx ON transaction_change USING btree (gateway_account_id, hour, sql_transaction);
CREATE INDEX transaction_change_order_idx ON transaction_change USING btree (sql_transaction);

-- Numbers and sums of transactions by hour (UTC), so that a report in any time zone reads few rows. Merged from
-- transaction_summary_change.
CREATE TABLE transaction_hour_summary (
  hour timestamp with time zone NOT NULL,
  -- As in transaction_summary.
  all_accounts boolean NOT NULL,
  gateway_account_id text,
  transaction_type text NOT NULL,
  state text NOT NULL,
  live boolean,
  moto boolean NOT NULL,
  count bigint NOT NULL,
  -- As in transaction_summary.
  amount numeric NOT NULL,
  total_amount numeric NOT NULL,
  net_amount numeric NOT NULL,
  fee numeric NOT NULL,
  refunded_amount numeric NOT NULL,
  gross_amount numeric NOT NULL,
  -- As in transaction_summary.
  id bigint DEFAULT nextval('transaction_summary_id'::regclass),
  -- The merge since which the summary is this. In a summary of one account, the last merge of a change of one of its
  -- transactions, also if that has no effect on the numbers.
  merged_end bigint NOT NULL DEFAULT 0,
  CONSTRAINT transaction_hour_summary_key UNIQUE NULLS NOT DISTINCT (all_accounts, gateway_account_id, hour, transaction_type, state, live, moto)
) WITH (fillfactor=80);
CREATE INDEX transaction_hour_summary_hour_idx ON transaction_hour_summary USING btree (hour) WHERE NOT all_accounts;
-- As for transaction_summary.
CREATE TRIGGER keep_first_version BEFORE UPDATE ON transaction_hour_summary FOR EACH ROW WHEN (old.id IS NULL) EXECUTE FUNCTION keep_first_summary_version();
-- As for transaction_summary.
CREATE TRIGGER keep_versions AFTER UPDATE ON transaction_hour_summary REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION keep_summary_versions();

-- The columns of a transaction by which searches by type and state walk. A change of the state writes this short row
-- and its indexes, and leaves the indexes of the transaction as they are.
CREATE TABLE transaction_outline (
  external_id text NOT NULL,
  gateway_account_id text,
  transaction_type text NOT NULL,
  state text NOT NULL,
  created_date timestamp with time zone NOT NULL,
  first_event_id bigint NOT NULL,
  CONSTRAINT transaction_outline_pkey PRIMARY KEY (external_id)
);
CREATE INDEX transaction_outline_account_type_state_newest_idx ON transaction_outline USING btree (gateway_account_id, transaction_type, state, created_date DESC NULLS LAST, external_id DESC NULLS LAST);
CREATE INDEX transaction_outline_kind_newest_idx ON transaction_outline USING btree (transaction_type, state, created_date DESC, external_id DESC);

-- Numbers and sums of transactions by day, month and all time, of each account and of all accounts, so that a report
-- reads few rows. Merged from transaction_summary_change.
CREATE TABLE transaction_summary (
  -- day, month or ever.
  grain text NOT NULL,
  -- The first day of the period (UTC), and -infinity for ever.
  period date NOT NULL,
  -- A row of all accounts has no account, and neither has the row of the transactions without one.
  all_accounts boolean NOT NULL,
  gateway_account_id text,
  transaction_type text NOT NULL,
  state text NOT NULL,
  live boolean,
  moto boolean NOT NULL,
  count bigint NOT NULL,
  -- Pence, as in the other sums.
  amount numeric NOT NULL,
  total_amount numeric NOT NULL,
  net_amount numeric NOT NULL,
  fee numeric NOT NULL,
  refunded_amount numeric NOT NULL,
  -- The total amounts. Of a transaction without one, its amount.
  gross_amount numeric NOT NULL,
  -- Null if the summary has not changed since it has ids.
  id bigint DEFAULT nextval('transaction_summary_id'::regclass),
  -- The merge since which the summary is this.
  merged_end bigint NOT NULL DEFAULT 0,
  CONSTRAINT transaction_summary_key UNIQUE NULLS NOT DISTINCT (all_accounts, grain, gateway_account_id, period, transaction_type, state, live, moto)
) WITH (fillfactor=70);
CREATE INDEX transaction_summary_period_idx ON transaction_summary USING btree (grain, period) WHERE NOT all_accounts;
-- Gives the summary an id with its first version. Older summaries have none.
CREATE TRIGGER keep_first_version BEFORE UPDATE ON transaction_summary FOR EACH ROW WHEN (old.id IS NULL) EXECUTE FUNCTION keep_first_summary_version();
-- Keeps what the summaries were before a merge.
CREATE TRIGGER keep_versions AFTER UPDATE ON transaction_summary REFERENCING OLD TABLE AS old_row FOR EACH STATEMENT EXECUTE FUNCTION keep_summary_versions();

-- The ends of the changes that each merge has added to the summaries: those of the SQL transactions below. Reports add
-- the later changes up.
CREATE TABLE transaction_summary_merge (
  merged_end bigint NOT NULL,
  CONSTRAINT transaction_summary_merge_pkey PRIMARY KEY (merged_end)
);

-- What a summary was before a merge has changed it, so that a report as of a position reads one version of each
-- summary.
CREATE TABLE transaction_summary_version (
  -- The id in transaction_summary or transaction_hour_summary.
  summary_id bigint NOT NULL,
  -- The merge since which the summary was this. 0 if it was this before the first merge.
  merged_end bigint NOT NULL,
  count bigint NOT NULL,
  amount numeric NOT NULL,
  total_amount numeric NOT NULL,
  net_amount numeric NOT NULL,
  fee numeric NOT NULL,
  refunded_amount numeric NOT NULL,
  gross_amount numeric NOT NULL,
  CONSTRAINT transaction_summary_version_pkey PRIMARY KEY (summary_id, merged_end)
);

-- Signed checkpoints (C2SP tlog-checkpoint) with the signatures of witnesses: the newest one, and the last of each day.
CREATE TABLE transparency_checkpoint (
  size bigint NOT NULL,
  note text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT transparency_checkpoint_pkey PRIMARY KEY (size)
);

-- The entries of the transparency log, each of an event, a redaction or a record of an access.
CREATE TABLE transparency_entry (
  -- The number of its leaf in the tree, from 0.
  index bigint NOT NULL,
  -- 0 for an event, 1 for a redaction, 2 for a record of an access.
  kind smallint NOT NULL,
  source_id bigint NOT NULL,
  -- The account of the event, as event_feed has it.
  account text,
  -- Hides personal data in its hash. Null once the event is redacted, and without personal data.
  salt uuid,
  -- The hash of the salt and the personal data. Empty without personal data.
  personal_hash bytea NOT NULL,
  CONSTRAINT transparency_entry_pkey PRIMARY KEY (source_id, kind)
);
-- Entries are added in this order.
CREATE INDEX transparency_entry_index_idx ON transparency_entry USING brin (index) WITH (pages_per_range='16');

-- The end of the log: its size and its last entry. The next entries are those after it in the feed.
CREATE TABLE transparency_head (
  size bigint NOT NULL,
  sql_transaction bigint NOT NULL DEFAULT '-1'::integer,
  kind smallint NOT NULL DEFAULT 0,
  source_id bigint NOT NULL DEFAULT 0,
  only_row boolean NOT NULL DEFAULT true,
  -- The last record of an access that has an entry.
  access_record_id bigint NOT NULL DEFAULT 0,
  CONSTRAINT transparency_head_pkey PRIMARY KEY (only_row),
  CONSTRAINT transparency_head_only_row_check CHECK (only_row)
);

-- The tiles of the tree (C2SP tlog-tiles), and the bundles of its entries as level -1.
CREATE TABLE transparency_tile (
  level smallint NOT NULL,
  index bigint NOT NULL,
  -- Up to 256 hashes of 32 bytes, or entries of 48 bytes.
  content bytea NOT NULL,
  CONSTRAINT transparency_tile_pkey PRIMARY KEY (level, index)
);

-- What each merge has changed in each summary, computed from the changes.
CREATE VIEW expected_summary_merge AS
 SELECT own.all_accounts,
    own.grain,
    own.period,
    own.gateway_account_id,
    changed.transaction_type,
    changed.state,
    changed.live,
    changed.moto,
    changed.merged_end,
    sum(changed.count)::bigint AS count,
    sum(changed.amount) AS amount,
    sum(changed.total_amount) AS total_amount,
    sum(changed.net_amount) AS net_amount,
    sum(changed.fee) AS fee,
    sum(changed.refunded_amount) AS refunded_amount,
    sum(changed.gross_amount) AS gross_amount
   FROM ( SELECT transaction_difference.hour,
            transaction_difference.gateway_account_id AS account,
            transaction_difference.transaction_type,
            transaction_difference.state,
            transaction_difference.live,
            transaction_difference.moto,
            merge.merged_end,
            sum(transaction_difference.count) AS count,
            sum(transaction_difference.amount) AS amount,
            sum(transaction_difference.total_amount) AS total_amount,
            sum(transaction_difference.net_amount) AS net_amount,
            sum(transaction_difference.fee) AS fee,
            sum(transaction_difference.refunded_amount) AS refunded_amount,
            sum(transaction_difference.gross_amount) AS gross_amount
           FROM transaction_difference
             CROSS JOIN LATERAL ( SELECT transaction_summary_merge.merged_end
                   FROM transaction_summary_merge
                  WHERE transaction_summary_merge.merged_end > transaction_difference.sql_transaction
                  ORDER BY transaction_summary_merge.merged_end
                 LIMIT 1) merge
          GROUP BY transaction_difference.hour, transaction_difference.gateway_account_id, transaction_difference.transaction_type, transaction_difference.state, transaction_difference.live, transaction_difference.moto, merge.merged_end) changed
     CROSS JOIN LATERAL ( SELECT summarised_periods.all_accounts,
            summarised_periods.grain,
            (summarised_periods.period::timestamp without time zone AT TIME ZONE 'UTC'::text) AS period,
            summarised_periods.gateway_account_id
           FROM summarised_periods(utc_day(changed.hour), changed.account) summarised_periods(all_accounts, grain, period, gateway_account_id)
        UNION ALL
         VALUES (true,'hour'::text,changed.hour,NULL::text), (false,'hour'::text,changed.hour,changed.account)) own
  GROUP BY own.all_accounts, own.grain, own.period, own.gateway_account_id, changed.transaction_type, changed.state, changed.live, changed.moto, changed.merged_end
 HAVING own.grain = 'hour'::text AND NOT own.all_accounts OR sum(changed.count) <> 0::numeric OR sum(changed.amount) <> 0::numeric OR sum(changed.total_amount) <> 0::numeric OR sum(changed.net_amount) <> 0::numeric OR sum(changed.fee) <> 0::numeric OR sum(changed.refunded_amount) <> 0::numeric OR sum(changed.gross_amount) <> 0::numeric;

-- The summaries by hour that the transactions require beside the changes that are not merged, for a comparison with
-- transaction_hour_summary.
CREATE VIEW expected_transaction_hour_summary AS
 SELECT summarised.hour,
    own.all_accounts,
    own.gateway_account_id,
    summarised.transaction_type,
    summarised.state,
    summarised.live,
    summarised.moto,
    sum(summarised.count)::bigint AS count,
    sum(summarised.amount) AS amount,
    sum(summarised.total_amount) AS total_amount,
    sum(summarised.net_amount) AS net_amount,
    sum(summarised.fee) AS fee,
    sum(summarised.refunded_amount) AS refunded_amount,
    sum(summarised.gross_amount) AS gross_amount
   FROM ( SELECT utc_hour(transaction.created_date) AS hour,
            transaction.gateway_account_id AS account,
            transaction.transaction_type,
            transaction.state,
            transaction.live,
            summarised_details.moto,
            count(*) AS count,
            sum(summarised_details.amount) AS amount,
            sum(summarised_details.total_amount) AS total_amount,
            sum(summarised_details.net_amount) AS net_amount,
            sum(summarised_details.fee) AS fee,
            sum(summarised_details.refunded_amount) AS refunded_amount,
            sum(summarised_details.gross_amount) AS gross_amount
           FROM transaction
             CROSS JOIN LATERAL summarised_details(transaction.details) summarised_details(moto, amount, total_amount, net_amount, fee, refunded_amount, gross_amount)
          GROUP BY (utc_hour(transaction.created_date)), transaction.gateway_account_id, transaction.transaction_type, transaction.state, transaction.live, summarised_details.moto
        UNION ALL
         SELECT transaction_summary_change.hour,
            transaction_summary_change.gateway_account_id,
            transaction_summary_change.transaction_type,
            transaction_summary_change.state,
            transaction_summary_change.live,
            transaction_summary_change.moto,
            - transaction_summary_change.count,
            - transaction_summary_change.amount,
            - transaction_summary_change.total_amount,
            - transaction_summary_change.net_amount,
            - transaction_summary_change.fee,
            - transaction_summary_change.refunded_amount,
            - transaction_summary_change.gross_amount
           FROM transaction_summary_change) summarised
     CROSS JOIN LATERAL ( VALUES (true,NULL::text), (false,summarised.account)) own(all_accounts, gateway_account_id)
  GROUP BY summarised.hour, own.all_accounts, own.gateway_account_id, summarised.transaction_type, summarised.state, summarised.live, summarised.moto
 HAVING sum(summarised.count) <> 0::numeric OR sum(summarised.amount) <> 0::numeric OR sum(summarised.total_amount) <> 0::numeric OR sum(summarised.net_amount) <> 0::numeric OR sum(summarised.fee) <> 0::numeric OR sum(summarised.refunded_amount) <> 0::numeric OR sum(summarised.gross_amount) <> 0::numeric;

-- The outlines that the transactions require, for a comparison with transaction_outline.
CREATE VIEW expected_transaction_outline AS
 SELECT external_id,
    gateway_account_id,
    transaction_type,
    state,
    created_date,
    first_event_id
   FROM transaction;

-- The summaries that the transactions require beside the changes that are not merged, for a comparison with
-- transaction_summary.
CREATE VIEW expected_transaction_summary AS
 SELECT own.all_accounts,
    own.grain,
    own.period,
    own.gateway_account_id,
    summarised.transaction_type,
    summarised.state,
    summarised.live,
    summarised.moto,
    sum(summarised.count)::bigint AS count,
    sum(summarised.amount) AS amount,
    sum(summarised.total_amount) AS total_amount,
    sum(summarised.net_amount) AS net_amount,
    sum(summarised.fee) AS fee,
    sum(summarised.refunded_amount) AS refunded_amount,
    sum(summarised.gross_amount) AS gross_amount
   FROM ( SELECT utc_day(transaction.created_date) AS day,
            transaction.gateway_account_id AS account,
            transaction.transaction_type,
            transaction.state,
            transaction.live,
            summarised_details.moto,
            count(*) AS count,
            sum(summarised_details.amount) AS amount,
            sum(summarised_details.total_amount) AS total_amount,
            sum(summarised_details.net_amount) AS net_amount,
            sum(summarised_details.fee) AS fee,
            sum(summarised_details.refunded_amount) AS refunded_amount,
            sum(summarised_details.gross_amount) AS gross_amount
           FROM transaction
             CROSS JOIN LATERAL summarised_details(transaction.details) summarised_details(moto, amount, total_amount, net_amount, fee, refunded_amount, gross_amount)
          GROUP BY (utc_day(transaction.created_date)), transaction.gateway_account_id, transaction.transaction_type, transaction.state, transaction.live, summarised_details.moto
        UNION ALL
         SELECT transaction_summary_change.day,
            transaction_summary_change.gateway_account_id,
            transaction_summary_change.transaction_type,
            transaction_summary_change.state,
            transaction_summary_change.live,
            transaction_summary_change.moto,
            - transaction_summary_change.count,
            - transaction_summary_change.amount,
            - transaction_summary_change.total_amount,
            - transaction_summary_change.net_amount,
            - transaction_summary_change.fee,
            - transaction_summary_change.refunded_amount,
            - transaction_summary_change.gross_amount
           FROM transaction_summary_change) summarised
     CROSS JOIN LATERAL summarised_periods(summarised.day, summarised.account) own(all_accounts, grain, period, gateway_account_id)
  GROUP BY own.all_accounts, own.grain, own.period, own.gateway_account_id, summarised.transaction_type, summarised.state, summarised.live, summarised.moto
 HAVING sum(summarised.count) <> 0::numeric OR sum(summarised.amount) <> 0::numeric OR sum(summarised.total_amount) <> 0::numeric OR sum(summarised.net_amount) <> 0::numeric OR sum(summarised.fee) <> 0::numeric OR sum(summarised.refunded_amount) <> 0::numeric OR sum(summarised.gross_amount) <> 0::numeric;

-- The versions that the summaries and the changes require, for a comparison with transaction_summary_version.
CREATE VIEW expected_transaction_summary_version AS
 SELECT summary.id AS summary_id,
    lag(merge.merged_end, 1, 0::bigint) OVER in_order AS merged_end,
    summary.count::numeric - sum(merge.count) OVER since AS count,
    summary.amount - sum(merge.amount) OVER since AS amount,
    summary.total_amount - sum(merge.total_amount) OVER since AS total_amount,
    summary.net_amount - sum(merge.net_amount) OVER since AS net_amount,
    summary.fee - sum(merge.fee) OVER since AS fee,
    summary.refunded_amount - sum(merge.refunded_amount) OVER since AS refunded_amount,
    summary.gross_amount - sum(merge.gross_amount) OVER since AS gross_amount
   FROM expected_summary_merge merge
     JOIN merged_summary summary ON summary.all_accounts = merge.all_accounts AND summary.grain = merge.grain AND summary.period = merge.period AND summary.transaction_type = merge.transaction_type AND summary.state = merge.state AND summary.moto = merge.moto AND COALESCE(summary.gateway_account_id, ''::text) = COALESCE(merge.gateway_account_id, ''::text) AND COALESCE(summary.live::text, ''::text) = COALESCE(merge.live::text, ''::text)
  WINDOW in_order AS (PARTITION BY summary.id ORDER BY merge.merged_end), since AS (PARTITION BY summary.id ORDER BY merge.merged_end ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING);

-- The rows of transaction_summary and transaction_hour_summary in one form.
CREATE VIEW merged_summary AS
 SELECT transaction_summary.id,
    transaction_summary.merged_end,
    transaction_summary.all_accounts,
    transaction_summary.grain,
    (transaction_summary.period::timestamp without time zone AT TIME ZONE 'UTC'::text) AS period,
    transaction_summary.gateway_account_id,
    transaction_summary.transaction_type,
    transaction_summary.state,
    transaction_summary.live,
    transaction_summary.moto,
    transaction_summary.count,
    transaction_summary.amount,
    transaction_summary.total_amount,
    transaction_summary.net_amount,
    transaction_summary.fee,
    transaction_summary.refunded_amount,
    transaction_summary.gross_amount
   FROM transaction_summary
UNION ALL
 SELECT transaction_hour_summary.id,
    transaction_hour_summary.merged_end,
    transaction_hour_summary.all_accounts,
    'hour'::text AS grain,
    transaction_hour_summary.hour AS period,
    transaction_hour_summary.gateway_account_id,
    transaction_hour_summary.transaction_type,
    transaction_hour_summary.state,
    transaction_hour_summary.live,
    transaction_hour_summary.moto,
    transaction_hour_summary.count,
    transaction_hour_summary.amount,
    transaction_hour_summary.total_amount,
    transaction_hour_summary.net_amount,
    transaction_hour_summary.fee,
    transaction_hour_summary.refunded_amount,
    transaction_hour_summary.gross_amount
   FROM transaction_hour_summary;

-- The dead letters, as releases before migration 0007 read and write them.
CREATE VIEW parked_message AS
 SELECT id,
    source_id,
    body,
    reason,
    created_at AS parked_at
   FROM dead_letter;

-- What each change adds to the sums of a state, and what it removes from those of the state before.
CREATE VIEW transaction_difference AS
 SELECT transaction_change.sql_transaction,
    transaction_change.external_id,
    transaction_change.hour,
    transaction_change.gateway_account_id,
    transaction_change.transaction_type,
    transaction_change.live,
    transaction_change.moto,
    part.state,
    part.count,
    part.amount,
    part.total_amount,
    part.net_amount,
    part.fee,
    part.refunded_amount,
    part.gross_amount
   FROM transaction_change
     CROSS JOIN LATERAL ( VALUES (transaction_change.state,transaction_change.count,transaction_change.amount,transaction_change.total_amount,transaction_change.net_amount,transaction_change.fee,transaction_change.refunded_amount,transaction_change.gross_amount), (transaction_change.state_before,'-1'::integer,- transaction_change.amount_before,- transaction_change.total_amount_before,- transaction_change.net_amount_before,- transaction_change.fee_before,- transaction_change.refunded_amount_before,- transaction_change.gross_amount_before)) part(state, count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount)
  WHERE part.state IS NOT NULL;

-- The changes that are not merged into the summaries. A report adds them up.
CREATE VIEW transaction_summary_change AS
 SELECT utc_day(hour) AS day,
    gateway_account_id,
    transaction_type,
    state,
    live,
    moto,
    count::bigint AS count,
    amount,
    total_amount,
    net_amount,
    fee,
    refunded_amount,
    gross_amount,
    hour
   FROM transaction_difference
  WHERE sql_transaction >= (( SELECT max(transaction_summary_merge.merged_end) AS max
           FROM transaction_summary_merge)) AND sql_transaction < '9223372036854775807'::bigint;

-- The account that an event names, in its details or beside them.
CREATE OR REPLACE FUNCTION account_of_event(event_details jsonb, other_members jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(id_of(event_details -> 'gateway_account_id'), id_of(other_members -> 'gateway_account_id'))
$function$;

-- The account of a resource, from its projection. Null if it is not known.
CREATE OR REPLACE FUNCTION account_of_resource(type text, id text)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
AS $function$
  select case
    when type in ('payment', 'refund', 'dispute') then
      (select gateway_account_id from transaction where external_id = id)
    when type = 'payout' then (select gateway_account_id from payout where gateway_payout_id = id)
    when type = 'agreement' then (select gateway_account_id from agreement where external_id = id)
    when type = 'payment_instrument' then coalesce(
      (select gateway_account_id from payment_instrument_account where external_id = id),
      (
        select agreement.gateway_account_id from payment_instrument as instrument
        join agreement on agreement.external_id = instrument.agreement_external_id
        where instrument.external_id = id
      )
    )
  end
$function$;

-- Adds new events to the feed. If an event is the first that makes the account of its resource known, the earlier
-- events of the resource get entries for the account.
CREATE OR REPLACE FUNCTION add_to_event_feed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  has_agreements boolean;
begin
  select bool_or(resource_type in ('agreement', 'payment_instrument')) into has_agreements from new_event;
  if has_agreements is null then return null; end if;
  -- Locks the payment instruments, since other receivers can store their events while the account of an agreement becomes
  -- known. Receivers hold all their other locks before. The next statement sees what the others have committed.
  if has_agreements then
    insert into payment_instrument_account (external_id, gateway_account_id)
    select id, account_of_resource('payment_instrument', id) from (
      select resource_external_id as id from new_event where resource_type = 'payment_instrument'
      union
      select event.resource_external_id from new_event as agreement join event
        on event.resource_type = 'payment_instrument'
        and left(event.event_details ->> 'agreement_external_id', 255) = agreement.resource_external_id
      where agreement.resource_type = 'agreement' and account_of_event(agreement.event_details, agreement.other_members) is not null
        and account_of_resource('agreement', agreement.resource_external_id) is null
    ) as instrument
    order by id
    on conflict (external_id) do update set external_id = excluded.external_id;
  end if;
  with added as materialized (
    select id, resource_type, resource_external_id, account_of_event(event_details, other_members) as account,
      case resource_type when 'payment_instrument' then id_of(event_details -> 'agreement_external_id') end as agreement
    from new_event
  ), resource as materialized (
    -- With the events of each resource, so that no join is needed: the planner does not know how many there are.
    select resource_type, resource_external_id, array_agg(id) as ids, array_agg(account) as accounts,
      case when resource_type in ('payment', 'refund', 'dispute', 'payout', 'agreement') then max(account) end as account,
      array_agg(agreement) filter (where agreement is not null) as agreements,
      case
        when resource_type in ('payment', 'refund', 'dispute') then
          (select gateway_account_id from transaction where external_id = resource_external_id)
        else account_of_resource(resource_type, resource_external_id)
      end as known
    from added group by resource_type, resource_external_id
  ), discovered as materialized (
    select resource_type, resource_external_id, account from resource where known is null and account is not null
  ), discovered_instrument as materialized (
    select id, min(account) as account from (
      select resource_external_id as id, account_of_resource('agreement', agreement) as account
      from resource cross join unnest(agreements) as agreement where known is null
      union all
      select event.resource_external_id, discovered.account
      from discovered join event
        on event.resource_type = 'payment_instrument'
        and left(event.event_details ->> 'agreement_external_id', 255) = discovered.resource_external_id
      where discovered.resource_type = 'agreement'
        and account_of_resource(event.resource_type, event.resource_external_id) is null
    ) as of_agreement
    where account is not null group by id
  ), recorded as (
    update payment_instrument_account as instrument set gateway_account_id = account
    from discovered_instrument where external_id = id
  ), entry as (
    select own.id,
      coalesce(
        own.account, known, resource.account,
        case resource_type when 'payment_instrument' then of_instruments.accounts ->> resource_external_id end
      ) as account,
      false as only_of_account
    from resource
    cross join (select jsonb_object_agg(id, account) as accounts from discovered_instrument) as of_instruments
    cross join lateral unnest(ids, resource.accounts) as own (id, account)
    union all
    select event.id, all_discovered.account, true
    from (
      select * from discovered
      union all
      select 'payment_instrument', id, account from discovered_instrument
    ) as all_discovered
    -- In this order, whatever the statistics: mostly nothing is discovered, and there can be many entries without an account.
    cross join lateral (
      select id from event
      where (resource_type, resource_external_id) = (all_discovered.resource_type, all_discovered.resource_external_id)
      offset 0
    ) as event
    cross join lateral (
      select from event_feed where event_id = event.id and (gateway_account_id || '') is null offset 0
    ) as earlier
  )
  insert into event_feed (sql_transaction, event_id, gateway_account_id, only_of_account)
  select (epoch << 40) + pg_current_xact_id()::text::bigint, id, account, only_of_account
  from entry cross join event_feed_epoch where only_row
  on conflict (sql_transaction, event_id) do update set gateway_account_id = excluded.gateway_account_id;
  return null;
end $function$;

-- The events that have arrived: the highest id, the end of the feed, and the SQL transactions behind the end that have
-- committed, each as its distance. Only the highest id if these are more than 100.
CREATE OR REPLACE FUNCTION arrived_events()
 RETURNS text
 LANGUAGE plpgsql
 STABLE PARALLEL RESTRICTED
 SET enable_seqscan TO 'off'
AS $function$
begin
  return (
    select case
      when cardinality(distances) > 100 then newest::text
      else concat(newest, ':', arrived_end, ':', array_to_string(distances, ','))
    end
    from (
      select arrived_end, coalesce((select max(id) from event), 0) as newest, array(
        -- From each to the next one, since one can have many rows.
        with recursive behind as (
          select feed_end - 1 as sql_transaction
          union all
          select least(
            (select sql_transaction from event_feed as entry
             where entry.sql_transaction > behind.sql_transaction order by 1 limit 1),
            (select sql_transaction from transaction_change as change
             where change.sql_transaction > behind.sql_transaction order by 1 limit 1)
          )
          from behind where behind.sql_transaction is not null
        )
        select sql_transaction - arrived_end from behind where sql_transaction >= feed_end limit 101
      ) as distances
      from (
        select feed_end, greatest(
          (select max(sql_transaction) + 1 from event_feed where sql_transaction < feed_end),
          (select max(sql_transaction) + 1 from transaction_change where sql_transaction < feed_end),
          (select sql_transaction from instant_position order by instant limit 1)
        ) as arrived_end
        from (
          select (epoch << 40) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint as feed_end
          from event_feed_epoch where only_row
          offset 0
        ) as feed
        offset 0
      ) as ends
      offset 0
    ) as arrived
  );
end $function$;

-- The id of the SQL transaction in flight, with the epoch in the bits above, as in event_feed.
CREATE OR REPLACE FUNCTION current_sql_transaction()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select (epoch << 40) + pg_current_xact_id()::text::bigint from event_feed_epoch where only_row
$function$;

-- The positions before this one are complete: their SQL transactions have ended, and no later one gets a position below
-- it.
CREATE OR REPLACE FUNCTION event_feed_end()
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE PARALLEL RESTRICTED
AS $function$
begin
  return (
    select (epoch << 40) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint from event_feed_epoch where only_row
  );
end $function$;

-- A text, number or boolean as text. Null if it is too long for an id.
CREATE OR REPLACE FUNCTION id_of(member jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when jsonb_typeof(member) in ('string', 'number', 'boolean') and length(member #>> '{}') between 1 and 255
    then member #>> '{}' end
$function$;

-- Makes the partitions of access_record for this month and the next, and drops those of months that ended longer ago
-- than the interval.
CREATE OR REPLACE FUNCTION keep_access_records(keep interval)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  -- Without a time zone: a month of UTC.
  first_month timestamp := date_trunc('month', now() at time zone 'UTC');
  first_kept timestamptz := date_trunc('month', (now() - keep) at time zone 'UTC') at time zone 'UTC';
  month timestamp;
  partition text;
begin
  -- Other processes wait here, and no request does.
  lock table access_record in share update exclusive mode;
  foreach month in array array[first_month, first_month + interval '1 month'] loop
    partition := 'access_record_' || to_char(month, 'YYYY_MM');
    continue when to_regclass(partition) is not null;
    -- Records that came before their partition stay where they are.
    continue when exists (
      select from access_record_default
      where recorded_at >= month at time zone 'UTC' and recorded_at < (month + interval '1 month') at time zone 'UTC'
    );
    execute format(
      'create table %I partition of access_record for values from (%L) to (%L)',
      partition, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC'
    );
  end loop;
  for partition in
    select relname from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'access_record'::regclass and relname ~ '^access_record_\d{4}_\d{2}$'
      and (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' <= first_kept
  loop
    perform remove_access_records(partition::regclass, 'infinity');
    execute format('drop table %I', partition);
  end loop;
  perform remove_access_records('access_record_default', first_kept);
  delete from access_session where changed_at < first_kept;
end $function$;

-- Gives a summary an id and keeps its first version.
CREATE OR REPLACE FUNCTION keep_first_summary_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.id := nextval('transaction_summary_id');
  insert into transaction_summary_version
  values (
    new.id, old.merged_end, old.count, old.amount, old.total_amount, old.net_amount, old.fee, old.refunded_amount,
    old.gross_amount
  );
  return new;
end $function$;

-- Adds the old rows to payout_version.
CREATE OR REPLACE FUNCTION keep_payout_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into payout_version (
    gateway_payout_id, gateway_account_id, service_id, live, state, created_date, event_count, paid_out_date, details,
    folded, known_since, replaced_in
  )
  select gateway_payout_id, gateway_account_id, service_id, live, state, created_date, event_count, paid_out_date, details,
    folded, known_since,
    (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint
  from old_row;
  return null;
end $function$;

-- Keeps the old rows as versions.
CREATE OR REPLACE FUNCTION keep_summary_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into transaction_summary_version
  select id, merged_end, count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  from old_row where id is not null
  on conflict do nothing;
  return null;
end $function$;

-- The same without a minimum, for the previous release.
CREATE OR REPLACE FUNCTION merge_transaction_summary_changes(changes_max integer)
 RETURNS integer
 LANGUAGE sql
AS $function$
  select merge_transaction_summary_changes(changes_max, 1)
$function$;

-- Merges the oldest changes of whole SQL transactions, about as many as the maximum, into the summaries, if at least
-- the minimum wait. Returns their number, which is 0 while another session merges.
CREATE OR REPLACE FUNCTION merge_transaction_summary_changes(changes_max integer, changes_min integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  feed_end constant bigint := event_feed_end();
  merged_begin bigint;
  new_end bigint;
  merged integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('transaction_summary'), 0) then return 0; end if;
  merged_begin := (select max(merged_end) from transaction_summary_merge);
  select max(sql_transaction) + 1, count(*) into new_end, merged from (
    select sql_transaction from transaction_change
    where sql_transaction >= merged_begin and sql_transaction < feed_end
    order by sql_transaction limit greatest(changes_max, changes_min)
  ) as waiting;
  if merged < greatest(changes_min, 1) or changes_max < 1 then return 0; end if;
  if merged > changes_max then
    new_end := 1 + (
      select sql_transaction from transaction_change where sql_transaction >= merged_begin
      order by sql_transaction limit 1 offset changes_max - 1
    );
  end if;
  with changed as materialized (
    select hour, gateway_account_id as account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from transaction_difference where sql_transaction >= merged_begin and sql_transaction < new_end
    group by 1, 2, 3, 4, 5, 6
  ),
  -- Summed up before they are multiplied by six.
  changed_day as materialized (
    select utc_day(hour) as day, account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from changed group by 1, 2, 3, 4, 5, 6
  ),
  saved as (
    insert into transaction_summary as summary (
      all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, merged_end,
      count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
    )
    select own.*, transaction_type, state, live, moto, new_end,
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    from changed_day cross join lateral summarised_periods(day, account) as own
    group by 1, 2, 3, 4, 5, 6, 7, 8
    having (
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    ) <> (0, 0, 0, 0, 0, 0, 0)
    on conflict on constraint transaction_summary_key do update set
      merged_end = excluded.merged_end,
      count = summary.count + excluded.count,
      amount = summary.amount + excluded.amount,
      total_amount = summary.total_amount + excluded.total_amount,
      net_amount = summary.net_amount + excluded.net_amount,
      fee = summary.fee + excluded.fee,
      refunded_amount = summary.refunded_amount + excluded.refunded_amount,
      gross_amount = summary.gross_amount + excluded.gross_amount
  )
  insert into transaction_hour_summary as summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select hour, own.*, transaction_type, state, live, moto, new_end,
    sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
  from changed cross join lateral (values (true, null), (false, account)) as own (all_accounts, account)
  group by 1, 2, 3, 4, 5, 6, 7
  -- By the merges of the hours of an account, those in which a transaction has changed are found.
  having not all_accounts or (
    sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
  ) <> (0, 0, 0, 0, 0, 0, 0)
  on conflict on constraint transaction_hour_summary_key do update set
    merged_end = excluded.merged_end,
    count = summary.count + excluded.count,
    amount = summary.amount + excluded.amount,
    total_amount = summary.total_amount + excluded.total_amount,
    net_amount = summary.net_amount + excluded.net_amount,
    fee = summary.fee + excluded.fee,
    refunded_amount = summary.refunded_amount + excluded.refunded_amount,
    gross_amount = summary.gross_amount + excluded.gross_amount;
  insert into transaction_summary_merge values (new_end);
  return least(merged, changes_max);
end $function$;

-- Adds the payout of the old row to former_settlement.
CREATE OR REPLACE FUNCTION note_former_settlement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into former_settlement values (old.gateway_payout_id, old.external_id) on conflict do nothing;
  return null;
end $function$;

-- Notes the present SQL transaction in known_since.
CREATE OR REPLACE FUNCTION note_known_since()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.known_since := (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint;
  return new;
end $function$;

-- Removes the outlines of the old rows.
CREATE OR REPLACE FUNCTION outline_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from transaction_outline where external_id = any(array(select external_id from old_row));
  return null;
end $function$;

-- Adds the outlines of the new rows.
CREATE OR REPLACE FUNCTION outline_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into transaction_outline
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from new_row;
  return null;
end $function$;

-- Writes the outlines of the new rows that differ from the outlines of the old rows, and adds those that are missing.
CREATE OR REPLACE FUNCTION outline_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into transaction_outline
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from new_row
  except
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from old_row
  on conflict (external_id) do update set
    (gateway_account_id, transaction_type, state, created_date, first_event_id) =
    (excluded.gateway_account_id, excluded.transaction_type, excluded.state, excluded.created_date, excluded.first_event_id);
  return null;
end $function$;

-- The pence of a member of the details, as the projection reads them. Null if it has none.
CREATE OR REPLACE FUNCTION pence_of(member jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case jsonb_typeof(member)
    when 'number' then
      case when member::numeric between -9007199254740991 and 9007199254740991 and member::numeric % 1 = 0
        then trunc(member::numeric) end
    when 'string' then
      case when member #>> '{}' ~ '^-?0*[0-9]{1,16}$' then
        case when (member #>> '{}')::numeric between -9007199254740991 and 9007199254740991
          then (member #>> '{}')::numeric end
      end
  end
$function$;

-- Computes the summaries from the transactions, which can change meanwhile, and their versions from the changes.
CREATE OR REPLACE FUNCTION rebuild_transaction_summaries()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(hashtext('transaction_summary'), 0);
  delete from transaction_summary;
  delete from transaction_hour_summary;
  delete from transaction_summary_version;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_summary;
  insert into transaction_hour_summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_hour_summary;
  create temporary table latest_merge on commit drop as
  select all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, max(merged_end) as merged_end
  from expected_summary_merge group by 1, 2, 3, 4, 5, 6, 7, 8;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select all_accounts, grain, utc_day(period), gateway_account_id, transaction_type, state, live, moto, merged_end,
    0, 0, 0, 0, 0, 0, 0
  from latest_merge where grain <> 'hour'
  on conflict on constraint transaction_summary_key do update set merged_end = excluded.merged_end;
  insert into transaction_hour_summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select period, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end, 0, 0, 0, 0, 0, 0, 0
  from latest_merge where grain = 'hour'
  on conflict on constraint transaction_hour_summary_key do update set merged_end = excluded.merged_end;
  drop table latest_merge;
  delete from transaction_summary_version;
  insert into transaction_summary_version select * from expected_transaction_summary_version;
end $function$;

-- Subtracts the old rows in transaction_change.
CREATE OR REPLACE FUNCTION record_changes_of_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select from old_row) then return null; end if;
        insert into transaction_change (
          sql_transaction, external_id, hour, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select
          (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint,
          external_id, utc_hour(created_date), gateway_account_id, transaction_type, state, live, moto,
          -1, -1 * amount, -1 * total_amount, -1 * net_amount, -1 * fee, -1 * refunded_amount, -1 * gross_amount
        from old_row cross join lateral summarised_details(details);
        return null;
      end $function$;

-- Adds the new rows to transaction_change.
CREATE OR REPLACE FUNCTION record_changes_of_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select from new_row) then return null; end if;
        insert into transaction_change (
          sql_transaction, external_id, hour, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select
          (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint,
          external_id, utc_hour(created_date), gateway_account_id, transaction_type, state, live, moto,
          1, 1 * amount, 1 * total_amount, 1 * net_amount, 1 * fee, 1 * refunded_amount, 1 * gross_amount
        from new_row cross join lateral summarised_details(details);
        return null;
      end $function$;

-- Adds the difference between the old and the new rows to transaction_change.
CREATE OR REPLACE FUNCTION record_changes_of_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from new_row) then return null; end if;
  insert into transaction_change (
    sql_transaction, external_id, hour, gateway_account_id, transaction_type, live, moto, state, count,
    amount, total_amount, net_amount, fee, refunded_amount, gross_amount, state_before, amount_before,
    total_amount_before, net_amount_before, fee_before, refunded_amount_before, gross_amount_before
  )
  select
    (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint,
    external_id, hour, gateway_account_id, transaction_type, live, moto,
    coalesce(state_since, state_until), count + moved,
    amount + moved * amount_until, total_amount + moved * total_amount_until, net_amount + moved * net_amount_until,
    fee + moved * fee_until, refunded_amount + moved * refunded_amount_until, gross_amount + moved * gross_amount_until,
    case when moved = 1 then state_until end, nullif(moved, 0) * amount_until,
    nullif(moved, 0) * total_amount_until, nullif(moved, 0) * net_amount_until, nullif(moved, 0) * fee_until,
    nullif(moved, 0) * refunded_amount_until, nullif(moved, 0) * gross_amount_until
  from (
    select external_id, utc_hour(created_date) as hour, gateway_account_id, transaction_type, live, moto,
      max(state) filter (where sign = 1) as state_since, max(state) filter (where sign = -1) as state_until,
      sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
      sum(sign * net_amount) as net_amount, sum(sign * fee) as fee, sum(sign * refunded_amount) as refunded_amount,
      sum(sign * gross_amount) as gross_amount,
      sum(until * amount) as amount_until, sum(until * total_amount) as total_amount_until,
      sum(until * net_amount) as net_amount_until, sum(until * fee) as fee_until,
      sum(until * refunded_amount) as refunded_amount_until, sum(until * gross_amount) as gross_amount_until
    from (select 1 as sign, 0 as until, * from new_row union all select -1, 1, * from old_row) as written
      cross join lateral summarised_details(details)
    group by 1, 2, 3, 4, 5, 6
  ) as changed cross join lateral (select coalesce((state_since <> state_until)::int, 0) as moved) as states;
  return null;
end $function$;

-- Records the present position for the last quarter of an hour, once.
CREATE OR REPLACE FUNCTION record_instant_position()
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into instant_position
  select instant, (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  from event_feed_epoch cross join (select date_bin('15 minutes', now(), '2000-01-01Z') as instant) as quarter
  where instant > (select max(instant) from instant_position)
  on conflict do nothing
$function$;

-- The members with <REDACTED> for each value that is neither shown nor null. Metadata has it for each key.
CREATE OR REPLACE FUNCTION redacted_members(members jsonb, keeps_metadata boolean)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select coalesce(jsonb_object_agg(name, case
    when value = 'null' or name = any(shown_members()) then value
    when name <> 'external_metadata' or jsonb_typeof(value) <> 'object' then '"<REDACTED>"'
    when keeps_metadata then value
    else (
      select coalesce(jsonb_object_agg(key, case when own = 'null' then own else '"<REDACTED>"' end), '{}')
      from jsonb_each(value) as entry (key, own)
    )
  end), '{}')
  from jsonb_each(members) as member (name, value)
$function$;

-- Removes the records in a table that are older than an instant, and notes which.
CREATE OR REPLACE FUNCTION remove_access_records(of_table regclass, before timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format(
    'insert into access_record_removal (first_id, last_id)
     select min(id), max(id) from %s where recorded_at < $1 having count(*) > 0', of_table
  ) using before;
  execute format('delete from %s where recorded_at < $1', of_table) using before;
end $function$;

-- The members of the details of events that have no personal data. Those that the contract does not have can have some.
CREATE OR REPLACE FUNCTION shown_members()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array[
    'agreement_external_id', 'agreement_id', 'agreement_payment_type', 'amount', 'authorisation_mode',
    'can_retry', 'cancelled_date', 'capture_submitted_date', 'captured_date', 'card_brand', 'card_brand_label',
    'card_type', 'corporate_surcharge', 'credential_external_id', 'currency', 'delayed_capture',
    'destination_type', 'disputed', 'estimated_arrival_date_in_bank', 'evidence_due_date', 'exemption3ds',
    'exemption_3ds_requested', 'failure_balance_transaction', 'failure_code', 'failure_message', 'fee',
    'fee_breakdown', 'gateway_account_id', 'gateway_event_date', 'gateway_payout_id',
    'gateway_rejection_reason', 'gateway_status', 'gateway_transaction_id', 'language', 'live', 'moto',
    'net_amount', 'paid_out_date', 'payment_instrument_external_id', 'payment_instrument_id',
    'payment_provider', 'reason', 'refund_amount_available', 'refund_amount_refunded', 'refund_status',
    'requires_3ds', 'save_payment_instrument_to_agreement', 'source', 'statement_descriptor', 'total_amount',
    'type', 'version_3ds', 'wallet', 'zendesk_id'
  ]
$function$;

-- Not used since there are summaries by hour.
CREATE OR REPLACE FUNCTION summarise_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select -1 as sign, * from old_row) then return null; end if;
        insert into transaction_summary_change (
          day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select * from (
          select utc_day(created_date) as day, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select -1 as sign, * from old_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- Adds the numbers and sums of the old rows, with the sign changed, to transaction_summary_change.
CREATE OR REPLACE FUNCTION summarise_hours_of_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select -1 as sign, * from old_row) then return null; end if;
        insert into transaction_summary_change (
          hour, day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select hour, utc_day(hour), gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        from (
          select utc_hour(created_date) as hour, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select -1 as sign, * from old_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- Adds the numbers and sums of the new rows to transaction_summary_change.
CREATE OR REPLACE FUNCTION summarise_hours_of_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select 1 as sign, * from new_row) then return null; end if;
        insert into transaction_summary_change (
          hour, day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select hour, utc_day(hour), gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        from (
          select utc_hour(created_date) as hour, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select 1 as sign, * from new_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- Adds the difference of the numbers and sums of new and old rows to transaction_summary_change.
CREATE OR REPLACE FUNCTION summarise_hours_of_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select 1 as sign, * from new_row union all select -1, * from old_row) then return null; end if;
        insert into transaction_summary_change (
          hour, day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select hour, utc_day(hour), gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        from (
          select utc_hour(created_date) as hour, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select 1 as sign, * from new_row union all select -1, * from old_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- Not used since there are summaries by hour.
CREATE OR REPLACE FUNCTION summarise_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select 1 as sign, * from new_row) then return null; end if;
        insert into transaction_summary_change (
          day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select * from (
          select utc_day(created_date) as day, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select 1 as sign, * from new_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- Not used since there are summaries by hour.
CREATE OR REPLACE FUNCTION summarise_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select 1 as sign, * from new_row union all select -1, * from old_row) then return null; end if;
        insert into transaction_summary_change (
          day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select * from (
          select utc_day(created_date) as day, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (select 1 as sign, * from new_row union all select -1, * from old_row) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $function$;

-- The details of a transaction that its summary needs. An amount that is missing counts as 0.
CREATE OR REPLACE FUNCTION summarised_details(details jsonb)
 RETURNS TABLE(moto boolean, amount numeric, total_amount numeric, net_amount numeric, fee numeric, refunded_amount numeric, gross_amount numeric)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE ROWS 1
AS $function$
  select
    moto, coalesce(amount, 0), coalesce(total_amount, 0), coalesce(net_amount, 0), coalesce(fee, 0),
    coalesce(refunded_amount, 0), coalesce(total_amount, amount, 0)
  from (
    select
      coalesce(member.moto #>> '{}' = 'true', false) as moto, pence_of(member.amount) as amount,
      pence_of(member.total_amount) as total_amount, pence_of(member.net_amount) as net_amount,
      pence_of(member.fee) as fee, pence_of(member.refund_amount_refunded) as refunded_amount
    from jsonb_to_record(details) as member (
      moto jsonb, amount jsonb, total_amount jsonb, net_amount jsonb, fee jsonb, refund_amount_refunded jsonb
    )
    offset 0
  ) as pence
$function$;

-- The periods of a day that have a summary, of all accounts and of one.
CREATE OR REPLACE FUNCTION summarised_periods(day date, account text)
 RETURNS TABLE(all_accounts boolean, grain text, period date, gateway_account_id text)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE ROWS 6
AS $function$
  select all_accounts, grain, period, case when not all_accounts then account end
  from (values ('day', day), ('month', date_trunc('month', day::timestamp)::date), ('ever', '-infinity')) as own (grain, period)
  cross join (values (true), (false)) as accounts (all_accounts)
$function$;

-- The day of an instant in UTC.
CREATE OR REPLACE FUNCTION utc_day(instant timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (instant at time zone 'UTC')::date
$function$;

-- The beginning of the hour of an instant in UTC.
CREATE OR REPLACE FUNCTION utc_hour(instant timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select date_trunc('hour', instant at time zone 'UTC') at time zone 'UTC'
$function$;
