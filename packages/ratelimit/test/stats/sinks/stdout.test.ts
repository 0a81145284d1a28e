import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSink } from '../../../src/stats/sinks/index.ts'
import { createSinkContext, neverMs } from './support/sink-context.ts'

function createDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'stdout-sink-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

function openFile(t: TestContext, path: string, flags: number): number {
  const fd = openSync(path, flags)
  t.after(() => closeSync(fd))
  return fd
}

/** A pipe that is read only by the test. */
function createPipe(t: TestContext) {
  const path = join(createDirectory(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openFile(t, path, constants.O_WRONLY)
  let isRead = true
  const leave = () => {
    if (isRead) closeSync(reader)
    isRead = false
  }
  t.after(leave)
  return { reader, writer, leave }
}

function openStdout(fd: number, context: ReturnType<typeof createSinkContext>) {
  const extraTags = new Map([['env', 'prod']])
  return openSink({ flushIntervalMs: neverMs, extraTags, sink: { kind: 'stdout', fd } }, context)
}

test('every value is a line of JSON', async (t) => {
  const path = join(createDirectory(t), 'out')
  const fd = openFile(t, path, constants.O_CREAT | constants.O_WRONLY)
  const context = createSinkContext()
  const { statistics } = context
  const sink = await openStdout(fd, context)
  statistics.rules.forRule('d.k_"quoted"').totalHits += 3
  statistics.gauge('g', () => 2)
  statistics.timer('t').observe(0.5)
  await sink.flush()
  await sink.flush()
  await sink[Symbol.asyncDispose]()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const toLine = (name: string, type: string, value: string) =>
    `{"level":"debug","ts":1700000000.123000,"logger":"gostats.loggingsink",` +
    `"msg":"flushing ${type}","json":{"name":"${name}.__env=prod","type":"${type}",` +
    `"value":"${value}"}}`
  const gauge = toLine('g', 'gauge', '2.000000')
  const name = 'ratelimit.service.rate_limit.d.k_\\"quoted\\".total_hits'
  assert.deepEqual(lines, [
    toLine('t', 'timer', '0.500000'),
    gauge,
    toLine(name, 'counter', '3.000000'),
    gauge,
    gauge,
  ])
  for (const line of lines) JSON.parse(line)
})

test('a pipe that is not read blocks nothing, and gets complete lines once it is read', async (t) => {
  const { reader, writer } = createPipe(t)
  const context = createSinkContext()
  const sink = await openStdout(writer, context)
  t.after(() => sink[Symbol.asyncDispose]())
  const count = 20_000
  for (let i = 0; i < count; i += 1) context.statistics.counter(`c${i}`).value += 1
  for (let i = 0; i < count; i += 1) context.statistics.rules.forRule(`d.k${i}`).totalHits += 1

  let isFlushed = false
  const flushed = sink.flush().then(() => {
    isFlushed = true
  })
  for (let i = 0; i < 20; i += 1) await sleep(5)
  assert.equal(isFlushed, false)

  let text = ''
  const buffer = Buffer.alloc(1 << 20)
  const read = () => {
    try {
      text += buffer.toString('utf8', 0, readSync(reader, buffer))
    } catch {
      // The pipe is empty at the moment.
    }
  }
  const reading = setInterval(read, 1)
  t.after(() => clearInterval(reading))
  await flushed
  // Closing waits at most a second for a reader, which a busy machine may need.
  const last = `ratelimit.service.rate_limit.d.k${count - 1}.total_hits.__env=prod`
  while (!text.includes(last)) await sleep(10)
  await sink[Symbol.asyncDispose]()
  read()
  const names = new Set(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).json.name),
  )
  assert.equal(names.has(last), true)
})

test('a process whose standard output is not read still exits', async (t) => {
  const { writer } = createPipe(t)
  const script = `
    import { Statistics } from ${JSON.stringify(import.meta.resolve('../../../src/stats/registry.ts'))}
    import { openSink } from ${JSON.stringify(import.meta.resolve('../../../src/stats/sinks/index.ts'))}
    const statistics = new Statistics({ maxRequestKeys: 10 })
    for (let i = 0; i < 20000; i++) statistics.rules.forRule('d.k' + i).totalHits += 1
    const log = { warning() {}, info() {}, error() {} }
    const sink = await openSink(
      { flushIntervalMs: 10, extraTags: new Map(), sink: { kind: 'stdout' } },
      { statistics, log, now: Date.now, processGauges: () => [] },
    )
    setTimeout(async () => {
      await sink[Symbol.asyncDispose]()
      process.exit(7)
    }, 200)
  `
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', writer, 'inherit'],
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  assert.equal(code, 7)
})

test('a reader that closed the pipe is logged once', async (t) => {
  const { writer, leave } = createPipe(t)
  const context = createSinkContext()
  const sink = await openStdout(writer, context)
  leave()
  for (let i = 0; i < 5 || (i < 12_000 && context.logLines.length === 0); i += 1) {
    context.statistics.counter('c').value += 1
    await sink.flush()
    await sleep(10)
  }
  await sink[Symbol.asyncDispose]()
  assert.equal(context.logLines.length, 1)
  assert.match(context.logLines[0] ?? '', /not sent to standard output: EPIPE/)
})
