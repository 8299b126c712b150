-- What became of the messages of each minute, in all processes together. Rows older than a day are removed.
create table intake_minute (
  minute timestamptz primary key,
  stored bigint not null,
  duplicate bigint not null,
  rebuilt bigint not null,
  dead_letter bigint not null,
  retried bigint not null,
  -- Messages whose time of sending is known, and the times from their sending to their commit.
  lag_messages bigint not null,
  lag_ms_sum bigint not null,
  lag_ms_max bigint not null
);
