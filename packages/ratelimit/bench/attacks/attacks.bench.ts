import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startChild } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { Latencies } from '@portcullis/bench-kit/latencies'
import {
  listNames,
  parseChoice,
  parseOptions,
  parsePositive,
  parseSelection,
} from '@portcullis/bench-kit/options'
import { readResidentMegabytes } from '@portcullis/bench-kit/process-usage'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { createRequest } from '../requests.ts'
import { writeRules } from '../rule-files.ts'
import { answersByRule } from '../servers/contestants.ts'
import { ourProgram, startServer } from '../servers/server-process.ts'
import { createStores } from '../servers/stores.ts'
import type { AttackJob, AttackOutcome } from './attacker.ts'
import { attacks } from './attacks.ts'

const help = `Usage: npm run bench -- attacks [OPTION…]

Sends each attack of docs/ratelimit.md over the loopback interface to a
separate server, next to a legitimate client with one call at a time, and shows
the effect on that client.

Options:
  --only NAMES   comma-separated list of attacks:
                 ${listNames(Object.keys(attacks), 17)}
  --seconds N    duration of each attack; default: 3
  --store NAME   memory, or redis (a separate server); default: memory
  --write        write the table to docs/ratelimit.md
  --help         show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const options = {
  only: { type: 'string' },
  seconds: { type: 'string', default: '3' },
  store: { type: 'string', default: 'memory' },
  write: { type: 'boolean', default: false },
} as const

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    names: parseSelection(values.only, Object.keys(attacks)),
    seconds: parsePositive('seconds', values.seconds),
    store: parseChoice('store', values.store, ['memory', 'redis']),
    isWritten: values.write,
  }
}

type Settings = ReturnType<typeof parseSettings>

/** Resolves to the exit code: 1 if an honest call failed. */
export const run = createCommand({ name: 'attacks', help, parse: parseSettings, run: measure })

const rules = 100
const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

interface ClientResult {
  readonly p50: number
  readonly p99: number
  readonly calls: number
  readonly failed: number
}

async function measure({ names, seconds, store, isWritten }: Settings): Promise<number> {
  await using stores = createStores(undefined)
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-attacks-'))
  const rows: string[] = []
  let failed = 0
  try {
    const ruleFolder = await writeRules(folder, rules)
    for (const name of names) {
      await using server = await startServer({
        program: ourProgram(),
        logFile: join(folder, 'server.log'),
        rules: ruleFolder,
        store: await stores.addressOf(store),
        localCacheBytes: 0,
        env: { WORKERS: '1' },
        isReady: (target) => answersByRule(target, rules),
      })
      await using client = await openGrpcClient({ address: `127.0.0.1:${server.target.port}` })
      const call = createHonestCalls(client)
      await call(1)
      const alone = await call(seconds)
      const job: AttackJob = { name, port: server.target.port, seconds: seconds + 0.5 }
      using attacker = startChild(new URL('./attacker.ts', import.meta.url))
      await attacker.request('ready')
      const ended = attacker.request<AttackOutcome>(job)
      await wait(250)
      const beside = await call(seconds)
      const memory = await readResidentMegabytes(server.pid)
      const outcome = await ended
      failed += beside.failed
      const row = toRow(name, alone, beside, outcome, memory)
      console.log(row)
      rows.push(row)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  if (isWritten) await writeTable(rows)
  return failed === 0 ? 0 : 1
}

/** One call at a time, a millisecond apart, with five times the default deadline of Envoy. */
function createHonestCalls(client: Awaited<ReturnType<typeof openGrpcClient>>) {
  let number = 0
  return async (seconds: number): Promise<ClientResult> => {
    const latencies = new Latencies()
    const endMs = performance.now() + seconds * 1000
    let failed = 0
    while (performance.now() < endMs) {
      const { bytes } = createRequest({ values: 'many', descriptors: 1, rules }, number++ % 10_000)
      const startMs = performance.now()
      const { code } = await client.call(path, bytes, { deadlineMs: 100 })
      latencies.add(performance.now() - startMs)
      if (code !== 0) failed += 1
      await wait(1)
    }
    const [p50, p99] = [latencies.quantile(0.5), latencies.quantile(0.99)]
    return { p50, p99, calls: latencies.count, failed }
  }
}

function toRow(
  name: string,
  alone: ClientResult,
  beside: ClientResult,
  outcome: AttackOutcome | undefined,
  megabytes: number,
): string {
  const title = attacks[name]?.title ?? name
  const { cuts = 0, reason = '', sentBytes = 0 } = outcome ?? {}
  const limit = /over the limit (\w+)/.exec(reason)?.[1] ?? reason
  const cut = cuts === 0 ? 'no' : `${cuts} times${limit === '' ? '' : ` (${limit})`}`
  return `| ${[
    title,
    `${(sentBytes / 1e6).toFixed(1)} MB`,
    cut,
    `${alone.p50.toFixed(2)} / ${alone.p99.toFixed(2)} ms`,
    `${beside.p50.toFixed(2)} / ${beside.p99.toFixed(2)} ms`,
    `${beside.failed} of ${beside.calls}`,
    `${Math.round(megabytes)} MB`,
  ].join(' | ')} |`
}

async function writeTable(rows: readonly string[]): Promise<void> {
  const file = join(import.meta.dirname, '../../../../docs/ratelimit.md')
  const manual = await readFile(file, 'utf8')
  const table = [
    `Measured on ${availableParallelism()} cores that the server, the client and the attacker share; the attacker has the lowest priority:`,
    '',
    '| attack | sent | connection closed | p50 / p99 of the other client, alone | during the attack | its failed calls | memory of the server |',
    '|---|---:|---|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
  const between = /(<!-- attacks -->\n).*?(<!-- \/attacks -->)/s
  await writeFile(
    file,
    manual.replace(between, (_, start, end) => `${start}${table}\n${end}`),
  )
}
