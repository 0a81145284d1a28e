import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createCommand } from '@portcullis/bench-kit/command'
import { Latencies } from '@portcullis/bench-kit/latencies'
import { parseCount, parseOptions } from '@portcullis/bench-kit/options'
import type { Target } from '@portcullis/bench-kit/server-process'
import { formatTable, left, right } from '@portcullis/bench-kit/table'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { createRequest } from './requests.ts'
import { writeRules } from './rule-files.ts'
import { ourProgram, type ServerProcess, startServer } from './servers/server-process.ts'
import { createStores } from './servers/stores.ts'

const help = `Usage: npm run bench -- first-calls [OPTION…]

Measures the first 100 calls of a new process, and of a worker that replaces a
lost one. The goal is a 99th percentile of at most 5 ms on an idle machine: the
default timeout of Envoy is 20 ms.

Options:
  --starts N   number of processes of each kind; default: 10
  --help       show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const rules = 1000
const callCount = 100
const aimMs = 5
const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, { starts: { type: 'string', default: '10' } })
  return { isHelpWanted: values.help, starts: parseCount('starts', values.starts) }
}

/** Resolves to the exit code: 1 if the goal was missed. */
export const run = createCommand({ name: 'first-calls', help, parse: parseSettings, run: measure })

type Kind = 'memory' | 'redis' | 'replaced worker'

async function measure({ starts }: ReturnType<typeof parseSettings>): Promise<number> {
  await using stores = createStores(undefined)
  const redis = await stores.addressOf('redis')
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-first-calls-'))
  try {
    const ruleFolder = await writeRules(folder, rules)
    const start = async (kind: Kind): Promise<ServerProcess> =>
      await startServer({
        program: ourProgram(),
        logFile: join(folder, 'server.log'),
        rules: ruleFolder,
        store: kind === 'memory' ? undefined : redis,
        localCacheBytes: 0,
        env: { WORKERS: kind === 'replaced worker' ? '2' : '1' },
        isReady: canConnect,
      })
    const rows: string[][] = []
    let worst = 0
    for (const kind of ['memory', 'redis', 'replaced worker'] as const) {
      const all = new Latencies()
      const first = new Latencies()
      // The first round warms up the client in this process.
      for (let round = 0; round <= starts; round += 1) {
        await using server = await start(kind)
        if (kind === 'replaced worker') await replaceWorker(server)
        const durations = await callNewest(server.target, kind === 'replaced worker' ? 2 : 1)
        if (round === 0) continue
        first.add(durations[0] ?? 0)
        for (const ms of durations) all.add(ms)
      }
      worst = Math.max(worst, all.quantile(0.99))
      const figures = [first.quantile(0.5), all.quantile(0.5), all.quantile(0.99), all.quantile(1)]
      rows.push([kind, ...figures.map((ms) => `${ms.toFixed(2)} ms`)])
    }
    const columns = [left('process'), right('first call'), right('p50'), right('p99'), right('max')]
    console.log(formatTable(columns, rows))
    console.log(`\nGoal: p99 of the first ${callCount} calls of at most ${aimMs} ms.`)
    return worst <= aimMs ? 0 : 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Only connects, because a call would be one of the first. */
async function canConnect({ host, port }: Target): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, host)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const workerLine = /^worker \d+: pid=(\d+) state=serving /gm

async function readPids({ listeners }: ServerProcess): Promise<number[]> {
  const page = await fetch(`http://127.0.0.1:${listeners.debug}/workers`)
  return [...(await page.text()).matchAll(workerLine)].map(([, pid]) => Number(pid))
}

async function replaceWorker(server: ServerProcess): Promise<void> {
  const [victim] = await readPids(server)
  if (victim === undefined) throw new Error('the server has no workers')
  process.kill(victim, 'SIGKILL')
  for (;;) {
    const pids = await readPids(server)
    if (pids.length === 2 && !pids.includes(victim)) return
    await wait(20)
  }
}

/** With two connections, each of two workers gets one; the slower result is used. */
async function callNewest(target: Target, connections: number): Promise<number[]> {
  let slowest: number[] = []
  const clients = await Promise.all(
    Array.from({ length: connections }, () =>
      openGrpcClient({ address: `${target.host}:${target.port}` }),
    ),
  )
  for (const client of clients) {
    const durations: number[] = []
    for (let call = 0; call < callCount; call += 1) {
      const { bytes } = createRequest({ values: 'many', descriptors: 1, rules }, call)
      const startMs = performance.now()
      const { code, message } = await client.call(path, bytes)
      durations.push(performance.now() - startMs)
      if (code !== 0) throw new Error(`a call failed: ${message}`)
    }
    if (Math.max(...durations) > Math.max(0, ...slowest)) slowest = durations
  }
  for (const client of clients) await client.close()
  return slowest
}
