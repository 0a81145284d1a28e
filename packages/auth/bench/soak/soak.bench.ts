import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Child, startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { readResidentMegabytes } from '@portcullis/bench-kit/process-usage'
import { createProgress } from '@portcullis/bench-kit/progress'
import { describeMachine } from '@portcullis/bench-kit/results'
import { endOnSignals } from '@portcullis/bench-kit/server-process'
import { writeResult } from '../results.ts'
import { createServiceToken, signUpMembers } from '../servers/contestants.ts'
import { openDatabaseServer, query } from '../servers/database-server.ts'
import { portcullisOnly, toEnvironment } from '../servers/environment.ts'
import { growUsers } from '../servers/grow-users.ts'
import { ourProgram, type ServerProcess, startServer } from '../servers/server-process.ts'
import { type MailSink, openMailSink } from './mail-sink.ts'
import type { LoadPhase, LoadPhaseOutcome, SoakJob } from './mixed-load.ts'
import { help, parseSoakSettings, type SoakSettings } from './settings.ts'
import { type SoakSample, toVerdict, type Verdict } from './verdict.ts'

/** Resolves to the exit code, which is 1 if a request failed, a message was lost or memory grew. */
export const run = createCommand({
  name: 'auth-soak',
  help,
  parse: parseSoakSettings,
  run: soak,
})

interface Soaked {
  readonly perSecond: number
  readonly samples: readonly SoakSample[]
  readonly callsByKind: Readonly<Record<string, number>>
  readonly mails: { readonly requested: number; readonly received: number; readonly left: number }
  readonly postgres: string
}

async function soak(settings: SoakSettings): Promise<number> {
  const soaked = await soakServer(settings)
  const verdict = toVerdict(soaked.samples, { judgesMemory: settings.isComplete })
  const { requested, received, left } = soaked.mails
  const isFine = verdict.isFine && left === 0 && received >= requested
  console.log(describe(soaked, verdict))
  const fine = `No request failed and every message arrived${settings.isComplete ? ', and memory did not grow' : ''}.`
  console.log(isFine ? fine : 'A request failed, a message was lost, or memory grew.')
  if (settings.isComplete) {
    const { postgres, ...rest } = soaked
    const machine = { ...describeMachine(), postgres }
    const content = { machine, settings, verdict: { ...verdict, isFine }, ...rest }
    const file = await writeResult('auth-soak.json', content)
    console.log(`Written: ${file}`)
  }
  return isFine ? 0 : 1
}

/** Seconds of warm-up and measurement when searching for the maximum load. */
const searchSeconds = [4, 6] as const
const maxPhases = 30

async function soakServer(settings: SoakSettings): Promise<Soaked> {
  endOnSignals()
  const progress = createProgress()
  await using stack = new AsyncDisposableStack()
  try {
    progress.note(`a database with ${settings.users} users`)
    const databases = stack.use(await openDatabaseServer(settings.postgres))
    const mail = stack.use(await openMailSink())
    const databaseUrl = await databases.createDatabase('soak')
    const server = stack.use(await openSoakServer(stack, databaseUrl, mail, settings))
    await growUsers(databaseUrl, 0, settings.users)
    const load = stack.use(startChild(new URL('./load.ts', import.meta.url)))
    const job: SoakJob = {
      target: server.target,
      members: await signUpMembers(server.target, settings.connections),
      serviceToken: createServiceToken(),
    }
    await load.request(job)
    progress.note('searching for the maximum load')
    const perSecond = Math.max(1, Math.floor((await search(load)) * settings.share))
    const { samples, callsByKind } = await runPhases(load, server, settings, perSecond, progress)
    const mails = await countMails(mail, databaseUrl, callsByKind['otp'] ?? 0)
    return { perSecond, samples, callsByKind, mails, postgres: databases.version }
  } finally {
    progress.end()
  }
}

async function openSoakServer(
  stack: AsyncDisposableStack,
  databaseUrl: string,
  mail: MailSink,
  { heapMegabytes }: SoakSettings,
): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-soak-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return await startServer({
    program: ourProgram,
    logFile: join(folder, 'server.log'),
    toEnvironment: (port) => ({
      ...toEnvironment({ databaseUrl, port }),
      ...portcullisOnly,
      ...(heapMegabytes > 0 && { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` }),
      GOTRUE_SMTP_HOST: '127.0.0.1',
      GOTRUE_SMTP_PORT: `${mail.port}`,
      GOTRUE_SMTP_ADMIN_EMAIL: 'soak@bench.example',
      // The same users request messages again and again.
      GOTRUE_SMTP_MAX_FREQUENCY: '0s',
      GOTRUE_RATE_LIMIT_EMAIL_SENT: '100000000',
    }),
  })
}

async function search(load: Child): Promise<number> {
  let perSecond = 0
  for (const seconds of searchSeconds) {
    const phase: LoadPhase = { seconds }
    const outcome = await load.request<LoadPhaseOutcome>(phase)
    if (outcome.errors > 0) throw new Error(`The server returned an error: ${outcome.firstError}`)
    perSecond = outcome.calls / outcome.seconds
  }
  return perSecond
}

async function runPhases(
  load: Child,
  server: ServerProcess,
  { minutes }: SoakSettings,
  perSecond: number,
  progress: ReturnType<typeof createProgress>,
) {
  const samples: SoakSample[] = []
  const callsByKind: Record<string, number> = {}
  // A phase is at least a second long, because a p99 needs some requests.
  const phases = Math.max(5, Math.min(maxPhases, Math.floor(minutes * 60)))
  const phase: LoadPhase = { seconds: (minutes * 60) / phases, perSecond }
  for (let number = 0; number < phases; number += 1) {
    progress.show(number, phases, `${perSecond} requests a second`)
    const { callsByKind: calls, ...outcome } = await load.request<LoadPhaseOutcome>(phase)
    for (const [name, count] of Object.entries(calls)) {
      callsByKind[name] = (callsByKind[name] ?? 0) + count
    }
    samples.push({ ...outcome, residentMegabytes: await readResidentMegabytes(server.pid) })
  }
  return { samples, callsByKind }
}

/** Waits for the messages, which are sent after the responses. */
async function countMails(mail: MailSink, databaseUrl: string, requested: number) {
  const patienceMs = 30_000
  const endsAtMs = performance.now() + patienceMs
  for (;;) {
    const [row] = await query<{ left: number }>(
      databaseUrl,
      'select count(*)::integer as left from auth.outbox',
    )
    const left = row?.left ?? 0
    if (left === 0 || performance.now() > endsAtMs)
      return { requested, received: mail.received, left }
    await wait(200)
  }
}

function describe({ samples, perSecond, callsByKind, mails }: Soaked, verdict: Verdict): string {
  const over = (pick: (sample: SoakSample) => number) => samples.map(pick).join(' ')
  const kinds = Object.entries(callsByKind).map(([name, count]) => `${name} ${count}`)
  const growth = (verdict.growth * 100).toFixed(1)
  return `requests        ${verdict.calls.toLocaleString('en-US')} (${perSecond} a second)
                ${kinds.join(', ')}
errors          ${verdict.errors}${verdict.firstError === null ? '' : `, the first: ${verdict.firstError}`}
p50, p99        ${verdict.medianP50Ms.toFixed(1)} ms, ${verdict.medianP99Ms.toFixed(1)} ms (the slowest p99 ${verdict.slowestP99Ms.toFixed(1)} ms)
without hashes  p99 ${verdict.medianQuickP99Ms.toFixed(1)} ms
messages        ${mails.received} received, ${mails.left} left in the outbox
memory          ${verdict.earlyMegabytes.toFixed(0)} MB in the second fifth, ${verdict.lateMegabytes.toFixed(0)} MB in the last (${growth} %)
p99 over time   ${over(({ p99Ms }) => Math.round(p99Ms))}
MB over time    ${over(({ residentMegabytes }) => Math.round(residentMegabytes))}`
}
