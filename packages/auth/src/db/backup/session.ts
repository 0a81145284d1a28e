/**
 * Values are written and read the same way whatever the settings of the two servers are, and limits
 * that suit requests do not count. Until the end of the transaction.
 */
export const sessionForCopies = `
  select set_config(name, value, true) from (values
    ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'), ('TimeZone', 'UTC'),
    ('bytea_output', 'hex'), ('extra_float_digits', '1'), ('client_encoding', 'UTF8'),
    ('statement_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
    ('transaction_timeout', '0')
  ) as s (name, value)
  where exists (select from pg_settings p where p.name = s.name)`
