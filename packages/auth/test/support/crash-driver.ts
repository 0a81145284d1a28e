import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { checkPerson } from './crash-checks.ts'
import { newPerson, operations, type Person, pickOperation } from './crash-people.ts'
import type { CrashServer } from './crash-server.ts'
import { type MailServer, openMailServer } from './mail-server.ts'
import { until } from './outbox.ts'
import { createRandom, type Random } from './random.ts'

export interface CrashSettings {
  readonly moments: number
  readonly schema: string
  /** Starts the server on the same database as before. */
  start(env: Readonly<Record<string, string>>): Promise<CrashServer>
  /** Kills the server and everything else that has to end. */
  kill(server: CrashServer): Promise<void>
  /** Returns the URL of the database of the running server. */
  findDatabase(): Promise<string>
}

export interface CrashFigures {
  acknowledged: number
  unanswered: number
  checks: number
}

const workers = 6

/**
 * Runs operations, kills the server in the middle, starts it again and checks everything it had
 * acknowledged. The moments depend on a seed, so that a failed run can be repeated as far as possible.
 */
export async function runCrashRounds(
  t: TestContext,
  settings: CrashSettings,
): Promise<CrashFigures> {
  const seed = Number(process.env['CRASH_SEED']) || Math.floor(Math.random() * 2 ** 31)
  const random = createRandom(seed)
  t.diagnostic(`CRASH_SEED=${seed}`)
  const mail = await openMailServer(t)
  const figures: CrashFigures = { acknowledged: 0, unanswered: 0, checks: 0 }
  const people: Person[] = []
  const startedAt = performance.now()
  let moments = 0
  t.after(() => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    t.diagnostic(
      `${moments} moments, ${figures.acknowledged} operations acknowledged, ` +
        `${figures.unanswered} unanswered, ${figures.checks} checks, ${mail.received.length} ` +
        `messages to ${people.filter(({ isMailed }) => isMailed).length} people, ${seconds} s`,
    )
  })
  for (; moments < settings.moments; moments++) {
    const server = await settings.start(toEnvironment(mail, moments % 2 === 0))
    figures.checks += await check(server, settings, people, mail)
    await workUntilKilled({ server, people, random, figures, kill: settings.kill })
  }
  const server = await settings.start(toEnvironment(mail, true))
  figures.checks += await check(server, settings, people, mail)
  await checkAllMailed(server, settings, people, mail)
  return figures
}

function toEnvironment(mail: MailServer, confirmsByMail: boolean) {
  return {
    AUTH_MAILER_AUTOCONFIRM: `${!confirmsByMail}`,
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: `${mail.port}`,
    AUTH_SMTP_ADMIN_EMAIL: 'noreply@auth.example',
    // A busy machine may take long to start a server and to check passwords.
    AUTH_API_MAX_REQUEST_DURATION: '120s',
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '600s',
  }
}

interface Work {
  readonly server: CrashServer
  readonly people: Person[]
  readonly random: Random
  readonly figures: CrashFigures
  readonly kill: CrashSettings['kill']
}

async function workUntilKilled({ server, people, random, figures, kill }: Work): Promise<void> {
  const { promise: isDue, resolve } = Promise.withResolvers<void>()
  const killAfter = figures.acknowledged + 1 + Math.floor(random() * 40)
  let isKilled = false
  const faults: unknown[] = []

  const work = async (own: Person[]) => {
    while (!isKilled) {
      const known = own[Math.floor(random() * own.length * 1.25)] ?? addPerson(own, people)
      const [, operation] = pickOperation(known, random) ?? []
      if (operation === undefined) {
        own.splice(own.indexOf(known), 1)
        continue
      }
      known.isDirty = true
      try {
        if (await operation.run(server.url, known)) figures.acknowledged++
      } catch (error) {
        // Without a response the outcome is unknown. A wrong response is a fault.
        if (error instanceof assert.AssertionError) faults.push(error)
        else if (!isKilled) faults.push(error)
        else figures.unanswered++
        resolve()
        return
      }
      if (figures.acknowledged >= killAfter) resolve()
    }
  }
  // No two workers use the same user.
  const own = people.filter(isActive)
  const working = Array.from({ length: workers }, (_, at) =>
    work(own.filter((_, index) => index % workers === at).slice(-3)),
  )
  await isDue
  await sleep(random() * 20)
  isKilled = true
  await kill(server)
  await Promise.all(working)
  if (faults.length > 0) throw faults[0]
}

const isActive = ({ isThere, isMailed, session }: Person) =>
  isThere === 'yes' && (!isMailed || session?.isOpen === 'yes')

function addPerson(own: Person[], people: Person[]): Person {
  const person = newPerson()
  own.push(person)
  people.push(person)
  return person
}

/** Checks everything acknowledged that may have changed since the last check. */
async function check(
  { url }: CrashServer,
  settings: CrashSettings,
  people: readonly Person[],
  mail: MailServer,
): Promise<number> {
  let checks = 0
  const dirty = people.filter(({ isDirty }) => isDirty)
  await Promise.all(
    dirty.map(async (person) => {
      const done = await checkPerson(url, person)
      checks += done
      person.isDirty = false
    }),
  )
  // A message that has left the outbox must have been received.
  const waiting = new Set(await query(settings, 'select recipient from outbox'))
  const received = new Set(mail.received.flatMap(({ to }) => to))
  const mailed = dirty.filter(({ isMailed }) => isMailed)
  for (const { email } of mailed) {
    assert.ok(waiting.has(email) || received.has(email), `the message to ${email} is lost`)
  }
  return checks + mailed.length
}

/**
 * Messages that a killed server had claimed are sent after their lease; this makes them due at
 * once.
 */
async function checkAllMailed(
  { url }: CrashServer,
  settings: CrashSettings,
  people: readonly Person[],
  mail: MailServer,
): Promise<void> {
  await query(settings, 'update outbox set next_attempt_at = now()')
  // One more message wakes the sender.
  await operations['sign up']?.run(url, newPerson())
  await until(async () => (await query(settings, 'select recipient from outbox')).length === 0)
  const received = new Set(mail.received.flatMap(({ to }) => to))
  const lost = people.filter(({ isMailed, email }) => isMailed && !received.has(email))
  assert.deepEqual(lost, [])
}

/** Returns the first column of all rows. */
async function query(settings: CrashSettings, sql: string): Promise<unknown[]> {
  const client = new Client({
    connectionString: await settings.findDatabase(),
    options: `-c search_path=${settings.schema}`,
  })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows.map(([first]) => first)
  } finally {
    await client.end()
  }
}
