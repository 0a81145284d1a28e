import { hash } from '@node-rs/bcrypt'
import { Client } from 'pg'
import { auditActions } from '../../src/features/audit/audit.ts'
import { password } from '../load/requests.ts'
import { growUsers } from '../servers/grow-users.ts'

export interface DataSetSizes {
  readonly users: number
  readonly sessions: number
  readonly audit: number
}

interface Fill {
  readonly table: string
  readonly count: number
  /**
   * Inserts the rows with the numbers `$1` to `$2`; the table `numbered` has the users by number.
   */
  readonly text: string
}

const rowsAtOnce = 500_000

/**
 * Fills the empty tables of the schema `auth` like a year of use: most sessions are in use, most
 * audit entries are refreshes, and no row is due for deletion.
 */
export async function fillDataSet(
  databaseUrl: string,
  sizes: DataSetSizes,
  onProgress: (done: number, total: number, what: string) => void,
): Promise<void> {
  const fills = toFills(sizes)
  const total = fills.reduce((sum, { count }) => sum + count, sizes.users * 3)
  onProgress(0, total, `${sizes.users} users`)
  await growUsers(databaseUrl, 0, sizes.users)
  let done = sizes.users * 3
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('set search_path to auth, public')
    await client.query("set work_mem = '256MB'")
    await client.query("set maintenance_work_mem = '1GB'")
    // Foreign keys are not checked, because that would take long for millions of rows.
    await client.query('set session_replication_role = replica')
    await client.query('update users set encrypted_password = $1', [
      await hash(password, { cost: 4 }),
    ])
    await client.query(
      `create temporary table numbered as
       select row_number() over (order by created_at)::int as number, id, email from users`,
    )
    await client.query('create unique index on numbered (number) include (id, email)')
    await client.query('analyze numbered')
    for (const { table, count, text } of fills) {
      const indexes = await dropIndexes(client, table)
      for (let from = 0; from < count; from += rowsAtOnce) {
        onProgress(done, total, `${count} rows in ${table}`)
        const to = Math.min(from + rowsAtOnce, count)
        await client.query(text, [from + 1, to, sizes.users, count])
        done += to - from
      }
      onProgress(done, total, `indexes of ${table}`)
      for (const definition of indexes) await client.query(definition)
    }
    onProgress(done, total, 'vacuum')
    await client.query('vacuum (analyze) users, identities')
    for (const { table } of fills) await client.query(`vacuum (analyze) ${table}`)
  } finally {
    await client.end()
  }
}

/** Times are spread over the last year in the order of the numbers. */
const time = "(now() - ($4 - n) * (interval '365 days' / $4))"
/** A few users are frequent and most are rare, as in production. */
const owner = 'u.number = 1 + floor($3 * power(((n::bigint * 7919) % 999983) / 999983.0, 3))::int'

function toFills(sizes: DataSetSizes): readonly Fill[] {
  const share = (part: number) => Math.ceil(sizes.users * part)
  return [
    {
      table: 'sessions',
      count: sizes.sessions,
      text: `insert into sessions (id, user_id, amr, user_agent, ip, refresh_token_counter, created_at,
          updated_at, refreshed_at, revoked_at)
        select gen_random_uuid(), u.id, '[{"method": "password", "timestamp": 1700000000}]',
          'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', '192.0.2.' || n % 250, n % 40, ${time},
          now(), now() - n % 1000 * interval '1 minute',
          case when n % 100 = 0 then now() - interval '1 hour' end
        from generate_series($1::int, $2::int) n join numbered u on u.number = 1 + n % $3::int
        where $4::int > 0 order by n`,
    },
    {
      table: 'one_time_tokens',
      count: share(0.05),
      text: `insert into one_time_tokens (user_id, token_type, token_hash, otp_hash, relates_to, expires_at,
          created_at)
        select u.id, 'recovery', sha256(n::text::bytea), sha256(u.email::bytea), u.email,
          now() + interval '1 hour', now()
        from generate_series($1::int, $2::int) n join numbered u on u.number = n
        where $3::int > 0 and $4::int > 0`,
    },
    {
      table: 'flow_states',
      count: share(0.05),
      text: `insert into flow_states (id, user_id, auth_code, code_challenge, code_challenge_method,
          authentication_method, created_at)
        select gen_random_uuid(), u.id, gen_random_uuid(), md5(n::text), 's256', 'magiclink', now()
        from generate_series($1::int, $2::int) n join numbered u on u.number = n
        where $3::int > 0 and $4::int > 0`,
    },
    ...(['message_gaps (key, sent_at)', 'code_attempts (key, tried_at, attempts)'] as const).map(
      (into): Fill => ({
        table: into.split(' ')[0] ?? '',
        count: share(0.1),
        text: `insert into ${into}
          select sha256(n::text::bytea), now() ${into.includes('attempts)') ? ', 1' : ''}
          from generate_series($1::int, $2::int) n where $3::int > 0 and $4::int > 0`,
      }),
    ),
    {
      table: 'mfa_factors',
      count: share(0.1),
      text: `insert into mfa_factors (id, user_id, factor_type, friendly_name, status, secret)
        select gen_random_uuid(), u.id, 'totp', 'phone', case when n % 50 = 0 then 'unverified'
          else 'verified' end, sha256(n::text::bytea)
        from generate_series($1::int, $2::int) n
          -- The oldest and the newest users have none: requests of the report sign in as them.
          join numbered u on u.number = $3::int / 2 + n
        where $4::int > 0`,
    },
    {
      table: 'mfa_challenges',
      count: share(0.05),
      text: `insert into mfa_challenges (id, factor_id, ip_address, expires_at)
        select gen_random_uuid(), f.id, '192.0.2.1', now() + interval '5 minutes'
        from generate_series($1::int, $2::int) n
          join (select id, row_number() over () as number from mfa_factors) f on f.number = n
        where $3::int > 0 and $4::int > 0`,
    },
    {
      table: 'webauthn_challenges',
      count: share(0.02),
      text: `insert into webauthn_challenges (id, ceremony, challenge, expires_at)
        select gen_random_uuid(), 'authentication', md5(n::text), now() + interval '5 minutes'
        from generate_series($1::int, $2::int) n where $3::int > 0 and $4::int > 0`,
    },
    {
      table: 'outbox',
      count: share(0.02),
      // Messages that were given up have no recipient.
      text: `insert into outbox (channel, kind, recipient, payload, next_attempt_at, expires_at, failed_at)
        select case when n % 3 = 0 then 'sms' else 'email' end, 'confirmation',
          case when n % 2 = 0 then '' else u.email end,
          case when n % 2 = 0 then '{}' else jsonb_build_object('Email', u.email, 'Token', '123456') end,
          now() + interval '1 hour', now() + interval '1 day', case when n % 2 = 0 then now() end
        from generate_series($1::int, $2::int) n join numbered u on u.number = n
        where $3::int > 0 and $4::int > 0`,
    },
    { table: 'audit_log_entries', count: sizes.audit, text: toAuditText() },
  ]
}

/** 85 % of the entries are refreshes, 13 % are logins and 2 % are others. */
function toAuditText(): string {
  const others = Object.entries(auditActions).filter(([, type]) => type !== 'token')
  const names = others.map(([name]) => `'${name}'`).join(', ')
  const types = others.map(([, type]) => `'${type}'`).join(', ')
  const other = `1 + (n / 100) % ${others.length}`
  return `insert into audit_log_entries (id, payload, ip_address, created_at)
    select gen_random_uuid(), jsonb_build_object('actor_id', u.id, 'actor_via_sso', false,
        'actor_username', u.email,
        'action', case when n % 100 < 85 then 'token_refreshed' when n % 100 < 98 then 'login'
          else (array[${names}])[${other}] end,
        'log_type', case when n % 100 < 85 then 'token' when n % 100 < 98 then 'account'
          else (array[${types}])[${other}] end,
        'traits', jsonb_build_object('session_id', gen_random_uuid())),
      '192.0.2.' || n % 250, ${time}
    from generate_series($1::int, $2::int) n join numbered u on ${owner}
    order by n`
}

/** Returns the statements that create the indexes again. */
async function dropIndexes(client: Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i where i.indrelid = $1::regclass and not i.indisunique`,
    [table],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}
