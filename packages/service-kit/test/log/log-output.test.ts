import assert from 'node:assert/strict'
import { execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  createReadStream,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

const script = join(import.meta.dirname, '..', 'support', 'log-to-fd.ts')

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'log-output-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** A process that logs the requested number of lines. */
function startWriter(t: TestContext, stderr: 'pipe' | number, shell = '') {
  const stdio: StdioOptions = ['pipe', 'pipe', stderr]
  const child = shell
    ? spawn('sh', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, script, 'as requested'], {
        stdio,
      })
    : spawn(process.execPath, [script, 'as requested'], { stdio })
  const { stdin, stdout, stderr: log } = child
  assert.ok(stdin && stdout)
  const answers = createInterface(stdout)
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    log,
    /** Resolves when the process has written the lines and still responds. */
    async write(lineCount: number) {
      const answered = once(answers, 'line')
      stdin.write(`${lineCount}\n`)
      const [answer] = await answered
      assert.equal(answer, 'still alive')
    },
    /** Lets the process exit. */
    async end() {
      stdin.end()
      const [code] = await ended
      assert.equal(code, 0)
    },
  }
}

function summarize(log: string) {
  const lines = log.trimEnd().split('\n')
  const reports = lines.flatMap((line) => {
    const report = /level=warning msg="(\d+) log lines were dropped: (.+)"$/.exec(line)
    return report ? [{ count: Number(report[1]), reason: report[2] ?? '' }] : []
  })
  return {
    written: lines.filter((line) => line.startsWith('line ')),
    dropped: reports.reduce((sum, { count }) => sum + count, 0),
    reasons: [...new Set(reports.map(({ reason }) => reason))],
  }
}

/** Counts the written lines and the lines that were reported as dropped. */
function countLines(log: string): number {
  const { written, dropped } = summarize(log.slice(0, log.lastIndexOf('\n') + 1))
  return written.length + dropped
}

/** Collects the output of a stream, and notices its end. */
function collect(stream: Readable) {
  const collected = { text: '', ended: once(stream, 'close') }
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    collected.text += chunk
  })
  return collected
}

test('nothing is lost when the process exits right after logging', async () => {
  const child = spawn(process.execPath, [script, 'exit at once'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = await text(child.stderr)
  const expected = Array.from({ length: 1_000 }, (_, line) => `line ${line}`)
  assert.deepEqual(log.trimEnd().split('\n'), expected)
})

test('an unread log does not block the process: lines are dropped and counted', async (t) => {
  const writer = startWriter(t, 'pipe')
  assert.ok(writer.log)
  await writer.write(100_000)
  const log = collect(writer.log)
  await until(() => countLines(log.text) === 100_000)
  await writer.write(1)
  await writer.end()
  await log.ended
  const { written, dropped, reasons } = summarize(log.text)
  assert.equal(written[0], 'line 0')
  assert.equal(written.at(-1), 'line 100000')
  assert.ok(dropped > 0)
  assert.equal(written.length + dropped, 100_001)
  assert.deepEqual(reasons, ['the log was not read'])
})

/** A named pipe that is read only when the test reads it. */
async function makePipe(t: TestContext) {
  const path = join(await makeFolder(t), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  return { path, reader, writer }
}

test('a process exits although its log is a full pipe without a reader', async (t) => {
  const pipe = await makePipe(t)
  t.after(() => closeSync(pipe.reader))
  const writer = startWriter(t, pipe.writer)
  closeSync(pipe.writer)
  await writer.write(100_000)
  await wait(50)
  await writer.write(100_000)
  await writer.end()
})

test('a pipe that is read again receives the buffered lines and the number of dropped ones', async (t) => {
  const pipe = await makePipe(t)
  const writer = startWriter(t, pipe.writer)
  await writer.write(100_000)
  const log = collect(createReadStream(pipe.path))
  await writer.write(1)
  await until(() => countLines(log.text) === 100_001)
  await writer.end()
  closeSync(pipe.writer)
  closeSync(pipe.reader)
  await log.ended
  const { written, dropped } = summarize(log.text)
  assert.equal(written[0], 'line 0')
  assert.ok(dropped > 0)
  assert.equal(written.length + dropped, 100_001)
})

test('a closed pipe does not end the process', async (t) => {
  const pipe = await makePipe(t)
  const writer = startWriter(t, pipe.writer)
  closeSync(pipe.writer)
  await writer.write(1)
  closeSync(pipe.reader)
  for (let turn = 0; turn < 5; turn += 1) {
    await writer.write(1_000)
    await wait(10)
  }
  await writer.end()
})

test('a full disk does not end the process', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const writer = startWriter(t, full)
  for (let turn = 0; turn < 5; turn += 1) {
    await writer.write(10_000)
    await wait(10)
  }
  await writer.end()
})

test('when there is space again, logging continues with the number of dropped lines', async (t) => {
  const path = join(await makeFolder(t), 'log')
  const file = openSync(path, 'a')
  t.after(() => closeSync(file))
  // In blocks of 512 bytes.
  const writer = startWriter(t, file, 'ulimit -f 128')
  const isFull = () => statSync(path).size === 64 * 1_024
  await writer.write(8_000)
  await until(isFull)
  await writer.write(100_000)
  assert.ok(isFull())

  let log = ''
  await until(() => {
    if (isFull()) {
      log += readFileSync(path, 'utf8')
      truncateSync(path)
    }
    return readFileSync(path, 'utf8').includes('were dropped')
  })
  await writer.write(1)
  await writer.end()
  log += readFileSync(path, 'utf8')
  const { written, dropped, reasons } = summarize(log)
  assert.equal(written[0], 'line 0')
  assert.equal(written.at(-1), 'line 108000')
  assert.equal(written.length + dropped, 108_001)
  assert.equal(reasons.join(), 'the log cannot be written (file too large)')
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(10)
}
