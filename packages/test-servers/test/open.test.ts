import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findFreePort, retryWhenPortIsTaken } from '../src/free-port.ts'
import { openOrSkip } from '../src/open.ts'
import { MissingProgramError } from '../src/programs/provide-program.ts'
import { openSandbox } from '../src/sandbox.ts'
import { PortTakenError, waitUntilReady } from '../src/server-process.ts'

function createFakeTest() {
  const skipped: (string | undefined)[] = []
  const cleanups: unknown[] = []
  const t = {
    skip: (reason?: string) => void skipped.push(reason),
    after: (cleanup?: unknown) => void cleanups.push(cleanup),
  }
  return { t, skipped, cleanups }
}

const failToOpen = async () => {
  throw new MissingProgramError('memcached')
}

test('a missing program skips the test, and is recorded for the report', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-misses-'))
  t.after(() => rm(folder, { recursive: true }))
  const missesFile = join(folder, 'misses')
  const { t: fakeTest, skipped, cleanups } = createFakeTest()
  assert.equal(await openOrSkip(fakeTest, failToOpen, { isCi: false, missesFile }), undefined)
  assert.equal(skipped.length, 1)
  assert.match(`${skipped[0]}`, /^memcached is not installed\. Install it: .+memcached$/)
  assert.deepEqual(cleanups, [])
  const { program, installCommand } = JSON.parse(await readFile(missesFile, 'utf8'))
  assert.equal(program, 'memcached')
  assert.match(installCommand, /install memcached$/)
})

test('in CI a missing program fails the test and names the package', async () => {
  const { t, skipped } = createFakeTest()
  await assert.rejects(openOrSkip(t, failToOpen, { isCi: true, missesFile: undefined }), {
    message: /memcached is not installed.+install memcached/,
  })
  assert.deepEqual(skipped, [])
})

test('tests with an optional program are skipped in CI too', async () => {
  const { t, skipped } = createFakeTest()
  const open = async () => {
    throw new MissingProgramError('envoy')
  }
  assert.equal(await openOrSkip(t, open, { isCi: true, missesFile: undefined }), undefined)
  assert.match(`${skipped[0]}`, /^envoy is not installed/)
})

test('an opened server is stopped after the test', async () => {
  const { t, cleanups } = createFakeTest()
  let stops = 0
  const stop = async () => void stops++
  const server = { folder: '', stop, [Symbol.asyncDispose]: stop }
  assert.equal(
    await openOrSkip(t, async () => server, { isCi: true, missesFile: undefined }),
    server,
  )
  const [cleanup] = cleanups
  assert.ok(typeof cleanup === 'function')
  await cleanup()
  assert.equal(stops, 1)
})

test('a server that cannot start is reported with the end of its log', async (t) => {
  const sandbox = await openSandbox('broken')
  t.after(() => sandbox[Symbol.asyncDispose]())
  const broken = await sandbox.start('/bin/sh', ['-c', 'echo bad setting >&2; exit 1'], {
    name: 'x',
  })
  await assert.rejects(
    waitUntilReady(broken, async () => false),
    {
      message: '/bin/sh ended before it was ready. The end of its log:\nbad setting',
    },
  )
})

test('a program that does not exist is reported by name', async (t) => {
  const sandbox = await openSandbox('absent')
  t.after(() => sandbox[Symbol.asyncDispose]())
  await assert.rejects(sandbox.start('/no/such/server', [], { name: 'x' }), /\/no\/such\/server/)
})

test('a port that was taken in between leads to another attempt', async () => {
  const attempts: string[] = []
  const result = await retryWhenPortIsTaken(async () => {
    attempts.push('try')
    if (attempts.length < 3) throw new PortTakenError('Address already in use')
    return findFreePort()
  })
  assert.equal(attempts.length, 3)
  assert.ok(result > 0)
  await assert.rejects(
    retryWhenPortIsTaken(async () => {
      throw new PortTakenError('always')
    }),
    /always/,
  )
})
