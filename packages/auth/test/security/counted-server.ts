import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { parseConfig } from '../../src/config/config.ts'
import { createServices } from '../../src/create-services.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { endpoints } from '../../src/features/index.ts'
import { createServer } from '../../src/http/server.ts'
import { createGuesses } from '../../src/limits/guesses.ts'
import { createBcrypt } from '../../src/passwords/formats/bcrypt.ts'
import { createPasswords } from '../../src/passwords/passwords.ts'
import { createHashBox } from '../../src/tokens/hash-box.ts'
import { openServerKeys } from '../../src/tokens/server-keys.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { isBackgroundStatement } from '../support/background-statements.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

/** The cost of a request besides the network, which an attacker could measure. */
export interface Cost {
  /** The number of passwords hashed or compared with a hash; each takes about 70 ms. */
  readonly hashes: number
  readonly statements: readonly string[]
}

export interface CountedServer {
  readonly url: string
  readonly databaseUrl: string
  readonly schema: string
  /** Returns the cost since the last call. */
  takeCost(): Cost
  /** The clock stands still, so that responses can be compared exactly. */
  clock: { nowMs: number }
}

const unlimited = {
  take: () => undefined,
  peek: () => ({ left: Number.POSITIVE_INFINITY, waitSeconds: 0 }),
  clear: () => {},
}

const log = createLog({ level: 'error', format: 'text', write: () => {} })

/** Opens a server with a frozen clock and counted hashes. */
export async function openCountedServer(t: TestContext): Promise<CountedServer | undefined> {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const schema = `counted_${process.pid}_${randomUUID().slice(0, 8)}`
  const { config } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: postgres.url,
    AUTH_DB_NAMESPACE: schema,
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: '1',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_JWT_ALLOWED_AUDIENCES: 'elsewhere',
  })
  await migrate({ url: postgres.url, schema })
  let statements: string[] = []
  let hashes = 0
  // The fraction ends with a zero, which some formats omit.
  const clock = { nowMs: Math.floor(Date.now() / 1_000) * 1_000 + 120 }
  const db = openDatabase({
    url: postgres.url,
    schema,
    maxPoolSize: 10,
    idleTimeoutMs: 10_000,
    log,
    onStatement: (name) => {
      if (!isBackgroundStatement(name)) statements.push(name)
    },
  })
  const keys = await openServerKeys({ db, secrets: config.secrets, log })
  t.after(() => keys[Symbol.dispose]())
  const services = createServices({
    config,
    version: '0.0.0-test',
    db,
    log,
    keys,
    deliveries: { mark() {}, async settled() {} },
    wakeMessages: () => {},
    now: () => clock.nowMs,
  })
  const server = createServer({
    endpoints,
    services: {
      ...services,
      // Limits are not tested here, and all requests come from one address.
      requestLimits: unlimited,
      guesses: createGuesses(unlimited),
      passwords: createPasswords({
        queue: {
          waiting: 0,
          running: 0,
          run(hash) {
            hashes += 1
            return hash()
          },
        },
        hashes: createHashBox(config.secrets.hashes),
        written: createBcrypt(4),
      }),
    },
    log,
  })
  t.after(async () => {
    await server.close()
    await db[Symbol.asyncDispose]()
  })
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  return {
    url,
    databaseUrl: postgres.url,
    schema,
    clock,
    takeCost() {
      const cost = { hashes, statements }
      hashes = 0
      statements = []
      return cost
    },
  }
}
