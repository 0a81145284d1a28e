/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, type PostgresServer } from '@portcullis/test-servers'
import { Client } from 'pg'
import { startCrashServer } from '../support/crash-server.ts'
import { type FaultyNetwork, openFaultyNetwork } from '../support/faulty-network.ts'
import { send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { testPostgres } from '../support/shared-postgres.ts'

/** Sessions per fault; four faults make two hundred. */
const people = 50
const reuseMs = 1_000
/** Readings of the database clock can differ by this much. */
const clockErrorMs = 500

/** Starts a program with a wrong clock. */
const skewed = (seconds: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `const now = Date.now; Date.now = () => now() + ${seconds * 1_000}`,
  )}`,
})

interface Scene {
  readonly postgres: PostgresServer
  readonly network: FaultyNetwork
  readonly query: (sql: string) => Promise<readonly Record<string, unknown>[]>
  /** Commits on a separate connection. */
  readonly commit: () => Promise<void>
}

const reload = 'select pg_reload_conf()'

/** Faults that delay responses of PostgreSQL beyond the request timeout, and how they end. */
const stalls: Readonly<
  Record<string, { begin(scene: Scene): Promise<void>; end(scene: Scene): Promise<void> }>
> = {
  'PostgreSQL is frozen': {
    async begin({ postgres }) {
      postgres.pause()
    },
    async end({ postgres }) {
      postgres.resume()
    },
  },
  'the network is cut after the statement has arrived': {
    async begin({ network }) {
      network.cut()
    },
    async end({ network }) {
      network.restore()
    },
  },
  'the synchronous standby is lost': {
    async begin({ query, commit }) {
      await query("alter system set synchronous_standby_names = 'lost'")
      await query(reload)
      // Commits wait only after the checkpointer has read the setting too.
      let isCommitting = false
      await until(async () => {
        if (!isCommitting) {
          isCommitting = true
          void commit().finally(() => {
            isCommitting = false
          })
        }
        const rows = await query("select from pg_stat_activity where wait_event = 'SyncRep'")
        return rows.length > 0
      })
    },
    async end({ query }) {
      await query('alter system reset synchronous_standby_names')
      await query(reload)
    },
  },
}

test('a stalled database ends no session, on servers whose clocks are two minutes apart', async (t) => {
  const postgres = await open(t, testPostgres, {
    settings: { synchronous_commit: 'on', max_connections: '300' },
  })
  if (!postgres) return
  const network = await openFaultyNetwork(t, postgres.url)
  const connect = async () => {
    const client = new Client({ connectionString: postgres.url })
    client.on('error', () => {})
    await client.connect()
    t.after(() => client.end())
    return client
  }
  const client = await connect()
  const committer = await connect()
  const query = async (sql: string) => (await client.query(sql)).rows
  const commit = async () => {
    await committer.query("select pg_logical_emit_message(true, 'test', '')")
  }
  const scene = { postgres, network, query, commit }
  const settings = {
    DATABASE_URL: network.url,
    AUTH_API_MAX_REQUEST_DURATION: '3s',
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: `${reuseMs}ms`,
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000',
  }
  const early = await startCrashServer(t, { ...settings, ...skewed(-60) })
  const late = await startCrashServer(t, { ...settings, ...skewed(60) })
  const serverOf = (at: number) => (at % 2 === 0 ? early : late)
  const refresh = (at: number, token: string) =>
    send(serverOf(at).url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })

  /** Waits until the server no longer reports the database as unavailable. */
  const refreshWithRetries = async (at: number, token: string) => {
    for (;;) {
      const answer = await refresh(at, token)
      if (answer.status < 500) return answer
      await sleep(100)
    }
  }
  /** Signs in without a password, because hashing would take most of the time. */
  const signUp = async (at: number): Promise<string> => {
    for (;;) {
      const answer = await send(serverOf(at).url, '/signup', { body: {} })
      if (answer.status === 200) return answer.body.refresh_token
      assert.ok(answer.status >= 500, JSON.stringify(answer.body))
      await sleep(100)
    }
  }
  const signUpAll = () => Promise.all(Array.from({ length: people }, (_, at) => signUp(at)))
  const countRotated = async () => {
    const [row] = await query(
      'select count(*)::integer as count from auth.sessions where refresh_token_counter > 0',
    )
    return Number(row?.['count'])
  }

  await t.test('different clocks alone', async (t) => {
    const patient = { ...settings, AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '50s' }
    const behind = await startCrashServer(t, { ...patient, ...skewed(-60) })
    const ahead = await startCrashServer(t, { ...patient, ...skewed(60) })
    assert.match(behind.output(), /clock of this machine is 60 s behind that of PostgreSQL/)
    assert.match(ahead.output(), /clock of this machine is 60 s ahead of that of PostgreSQL/)
    const tokens = await signUpAll()
    const refreshAt = async (url: string, token: string) => {
      const body = { refresh_token: token }
      const answer = await send(url, '/token?grant_type=refresh_token', { body })
      return answer.body.refresh_token ?? answer.body
    }
    for (const [at, token] of tokens.entries()) {
      const [one, other] = at % 2 === 0 ? [behind, ahead] : [ahead, behind]
      const child = await refreshAt(one.url, token)
      assert.equal(typeof child, 'string', JSON.stringify(child))
      assert.deepEqual(await refreshAt(other.url, token), child)
    }
  })

  for (const [what, { begin, end }] of Object.entries(stalls)) {
    await t.test(what, async () => {
      const tokens = await signUpAll()
      const before = await countRotated()
      await begin(scene)
      // Some arrive alone: PostgreSQL completes their statements although the connection has ended.
      // It notices the end while it sends the longer result of refreshes that arrived together, and
      // undoes them.
      const failed = await Promise.all(
        tokens.map(async (token, at) => {
          await sleep(at * 10)
          return refresh(at, token)
        }),
      )
      // This is longer than the reuse interval.
      await sleep(2 * reuseMs)
      await end(scene)
      assert.deepEqual(
        failed.filter(({ status }) => status !== 504 && status !== 503).map(({ body }) => body),
        [],
      )
      // Tokens were rotated although the requests failed; otherwise no session could be lost.
      await until(async () => (await countRotated()) > before)
      const retried = await Promise.all(
        tokens.map((token, at) => refreshWithRetries(at + 1, token)),
      )
      const lost = retried.filter(({ status }) => status !== 200).map(({ body }) => body)
      assert.deepEqual(lost, [], `${lost.length} of ${people} sessions were lost`)
      const next = await Promise.all(
        retried.map(({ body }, at) => refreshWithRetries(at, body.refresh_token)),
      )
      assert.deepEqual(new Set(next.map(({ status }) => status)), new Set([200]))
    })
  }

  await t.test('a reused token is still detected, on either server', async () => {
    for (const at of [0, 1]) {
      const first = await signUp(at)
      const { body: second } = await refreshWithRetries(at, first)
      await until(async () => {
        const rows = await query(
          `select from auth.sessions s join auth.users u on u.id = s.user_id
           where u.id = '${second.user.id}' and s.delivered_counter = s.refresh_token_counter
             and clock_timestamp() > s.delivered_at + interval '${reuseMs + clockErrorMs} ms'`,
        )
        return rows.length === 1
      })
      const reused = await refresh(at + 1, first)
      assert.deepEqual([reused.status, reused.body.error_code], [400, 'refresh_token_already_used'])
      assert.equal((await refresh(at, second.refresh_token)).status, 400)
    }
  })
})
