import { createCommand } from '@portcullis/bench-kit/command'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { median, round } from '@portcullis/bench-kit/statistics'
import { formatCount, formatTable, left, paint, right } from '@portcullis/bench-kit/table'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { type CleanupRound, cleanUp } from '../../src/features/server/cleanup.ts'
import {
  claimMessages,
  deleteMessage,
  failMessage,
  releaseMessage,
  retryMessage,
} from '../../src/messages/statements/outbox.ts'
import { writeResult } from '../results.ts'
import { openDatabaseServer, query } from '../servers/database-server.ts'
import { capturePlans, reportPlans } from './captured-plans.ts'
import { fillDataSet } from './data-set.ts'
import { goals, type Observation, type StatementScore, toScores } from './judge.ts'
import { openMeasuredServer } from './measured-server.ts'
import { createRequests, type Kind } from './requests.ts'
import { help, type PlansSettings, parsePlansSettings } from './settings.ts'

/** Resolves to the exit code, which is 1 if a goal was missed. */
export const run = createCommand({
  name: 'auth-plans',
  help,
  parse: parsePlansSettings,
  run: report,
})

async function report(settings: PlansSettings): Promise<number> {
  endOnSignals()
  await using stack = new AsyncDisposableStack()
  const databases = stack.use(await openDatabaseServer(settings.postgres, settings.databaseUrl))
  const url = settings.databaseUrl ?? (await databases.createDatabase('plans'))
  const measured = await measurePlans(url, settings)
  const isReached =
    measured.scores.every((score) => score.isReached) && measured.cleanupMs <= goals.cleanup.ms
  console.log(formatScores(measured.scores))
  console.log(`\nA round of cleanup: ${measured.cleanupMs} ms (wanted at most ${goals.cleanup.ms})`)
  console.log(isReached ? 'Every goal was reached.' : paint('red', 'Goals were missed.'))
  if (settings.isComplete) {
    const machine = { ...describeMachine(), postgres: databases.version }
    const { sizes, rounds } = settings
    const content = { machine, sizes, rounds, goals, ...measured }
    console.log(`Written: ${await writeResult('auth-plans.json', content)}`)
  }
  return isReached ? 0 : 1
}

export interface MeasuredPlans {
  readonly scores: readonly StatementScore[]
  /** The median of complete rounds with nothing to delete. */
  readonly cleanupMs: number
}

/** Fills the database unless it already has users, and sends every request several times. */
export async function measurePlans(
  url: string,
  { sizes, rounds }: Pick<PlansSettings, 'sizes' | 'rounds'>,
): Promise<MeasuredPlans> {
  const progress = createProgress()
  try {
    await migrate({ url, schema: 'auth' })
    const [known] = await query<{ count: number }>(
      url,
      'select coalesce(sum(count), 0)::int as count from auth.user_counts',
    )
    if (known?.count === 0) await fillDataSet(url, sizes, progress.show)
    else progress.note(`The database has ${known?.count} users already`)
    await reportPlans(url)

    const observations: Observation[] = []
    let seenIn: Pick<Observation, 'title' | 'kind' | 'request'> | undefined
    let request = 0
    using _ = capturePlans((plan) => {
      // The message sender runs in the background.
      const isSender = senderStatements.has(plan.statement)
      if (seenIn === undefined || timers.has(plan.statement)) return
      observations.push({ ...plan, ...seenIn, ...(isSender && { kind: 'sender' }) })
    })
    {
      await using server = await openMeasuredServer(url)
      const people = await query<{ email: string; id: string }>(
        url,
        `select email, id from auth.users where email like '%@bench.example' order by created_at limit $1`,
        [rounds],
      )
      const emails = people.map(({ email }) => email)
      const requests = createRequests(
        server.url,
        emails,
        people.map(({ id }) => id),
      )
      for (const [at, { title, kind, send }] of requests.entries()) {
        progress.show(at, requests.length, title)
        for (let number = 0; number < rounds; number++) {
          seenIn = { title, kind, request: ++request }
          await send(number)
          seenIn = undefined
        }
      }
    }
    progress.note('cleanup')
    seenIn = { title: 'cleanup', kind: 'cleanup', request: 0 }
    await measureCleanup(url, rounds)
    seenIn = undefined
    const cleanupMs = await measureCleanup(withoutPlans(url), rounds)
    return { scores: toScores(observations), cleanupMs }
  } finally {
    progress.end()
  }
}

/** The median of rounds in milliseconds. */
async function measureCleanup(url: string, count: number): Promise<number> {
  await using db = openDatabase({
    url,
    schema: 'auth',
    maxPoolSize: 1,
    idleTimeoutMs: 10_000,
    log: { warning: () => {} },
  })
  const ages = {
    linkSeconds: 3_600,
    cooldownMs: 86_400_000,
    revocationsMs: 86_400_000,
    auditMs: 10 * 365 * 86_400_000,
  }
  const rounds: CleanupRound[] = []
  for (let number = 0; number < count; number++) rounds.push(await cleanUp(db, Date.now(), ages))
  // The goal is about rounds with nothing to delete, unlike the first one.
  const quiet = rounds.filter(({ deleted }) => deleted.size === 0)
  return round(median(quiet.map(({ durationMs }) => durationMs)), 1)
}

/** Disables plan reports, because they take longer than most statements. */
function withoutPlans(databaseUrl: string): string {
  const separator = databaseUrl.includes('?') ? '&' : '?'
  return `${databaseUrl}${separator}options=-c%20auto_explain.log_min_duration=-1`
}

const senderStatements: ReadonlySet<string> = new Set(
  [claimMessages, deleteMessage, failMessage, releaseMessage, retryMessage].map(({ name }) => name),
)

/** Statements that run at intervals, independent of requests. */
const timers: ReadonlySet<string> = new Set(['list_secret_keys'])

const sections: Readonly<Record<Kind, string>> = {
  request: 'Statements of requests',
  admin: 'Pages and searches of administrators',
  cleanup: 'Statements of cleanup',
  sender: 'Statements of the message sender',
}

function formatScores(scores: readonly StatementScore[]): string {
  return Object.entries(sections)
    .map(([kind, title]) => {
      const rows = scores
        .filter((score) => score.kind === kind)
        .toSorted((a, b) => b.medianMs - a.medianMs)
        .map((score) => [
          score.title ? `${score.title} (${score.statement})` : score.statement,
          formatCount(score.count),
          { text: score.medianMs.toFixed(2), style: score.isReached ? 'reset' : 'red' } as const,
          formatCount(score.medianBuffers),
          [...score.indexes, ...score.scans.map((table) => `all of ${table}`)].join(', '),
        ])
      const { ms, buffers } = goals[kind as Kind]
      const goal = [`at most ${ms} ms`, ...(buffers ? [`${buffers} buffers`] : [])].join(' and ')
      const columns = [
        left('statement'),
        right('runs'),
        right('ms'),
        right('buffers'),
        left('read'),
      ]
      return `${paint('bold', `${title}: ${goal}`)}\n${formatTable(columns, rows)}`
    })
    .join('\n\n')
}
