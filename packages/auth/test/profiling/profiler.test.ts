/**
 * @isolated profiles its process
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openProfiler } from '../../src/profiling/open-profiler.ts'
import { until } from '../support/outbox.ts'

async function open(t: TestContext) {
  const log: string[] = []
  const write = (message: unknown) => void log.push(String(message))
  const config = { host: '127.0.0.1', port: 0 }
  const profiler = await openProfiler({
    config,
    workerNumber: 1,
    log: { info: write, error: write },
  })
  t.after(() => profiler[Symbol.asyncDispose]())
  const { url } = profiler
  assert.ok(url)
  const send = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init)
  return { url, send, log }
}

interface Field {
  readonly field: number
  readonly value: number | Buffer
}

/** Decodes one protobuf message without knowing its type. */
function decode(bytes: Buffer): readonly Field[] {
  let at = 0
  const varint = (): number => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      assert.ok(byte !== undefined, 'the message is truncated')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(value)
    }
  }
  const fields: Field[] = []
  while (at < bytes.length) {
    const key = varint()
    const wireType = key & 7
    assert.ok(wireType === 0 || wireType === 2, `wire type ${wireType}`)
    if (wireType === 0) fields.push({ field: key >> 3, value: varint() })
    else {
      const length = varint()
      assert.ok(at + length <= bytes.length, 'the field is truncated')
      fields.push({ field: key >> 3, value: bytes.subarray(at, at + length) })
      at += length
    }
  }
  return fields
}

const messagesOf = (fields: readonly Field[], field: number) =>
  fields.filter((each) => each.field === field).map(({ value }) => value as Buffer)
const numberOf = (fields: readonly Field[], field: number) =>
  fields.find((each) => each.field === field)?.value as number

/** Reads a profile as pprof does: sample types, and the functions of each stack. */
function readProfile(body: Buffer) {
  const fields = decode(gunzipSync(body))
  const strings = messagesOf(fields, 6).map((text) => text.toString())
  assert.equal(strings[0], '')
  const textOf = (index: number) => {
    const text = strings[index]
    assert.ok(text !== undefined, `string ${index} is missing`)
    return text
  }
  const types = messagesOf(fields, 1).map((type) => {
    const parts = decode(type)
    return `${textOf(numberOf(parts, 1))}/${textOf(numberOf(parts, 2))}`
  })
  const functions = new Map(
    messagesOf(fields, 5).map((each) => {
      const parts = decode(each)
      return [numberOf(parts, 1), textOf(numberOf(parts, 2))]
    }),
  )
  const locations = new Map(
    messagesOf(fields, 4).map((each) => {
      const parts = decode(each)
      const [line] = messagesOf(parts, 4)
      const name = functions.get(numberOf(decode(line ?? Buffer.alloc(0)), 1))
      assert.ok(name !== undefined)
      return [numberOf(parts, 1), name]
    }),
  )
  const unpack = (bytes: Buffer) => {
    const wrapped = [...bytes]
    const values: number[] = []
    for (let value = 0, scale = 1; wrapped.length > 0; ) {
      const byte = wrapped.shift() ?? 0
      value += (byte & 0x7f) * scale
      scale *= 128
      if (byte < 0x80) {
        values.push(value)
        value = 0
        scale = 1
      }
    }
    return values
  }
  const samples = messagesOf(fields, 2).map((sample) => {
    const parts = decode(sample)
    const [ids, values] = [1, 2].map((field) =>
      unpack(messagesOf(parts, field)[0] ?? Buffer.alloc(0)),
    )
    const stack = (ids ?? []).map((id) => locations.get(id))
    assert.ok(!stack.includes(undefined), 'a location is missing')
    return { stack, values: values ?? [] }
  })
  return { types, samples, durationNs: numberOf(fields, 10) }
}

/**
 * Uses the CPU; the profile must contain its name. It is called by the timer itself: V8 could inline it into a
 * function that calls it, and does not name functions that were inlined before the measurement started.
 */
function burnCpuForTheProfile(): number {
  const untilMs = performance.now() + 20
  let sum = 0
  while (performance.now() < untilMs) for (let n = 0; n < 1_000; n += 1) sum += Math.sqrt(n)
  return sum
}

test('a CPU profile shows where time was spent', async (t) => {
  const { send } = await open(t)
  // The CPU is used until the response, because it is not known when the measurement starts.
  const burning = setInterval(burnCpuForTheProfile, 30)
  t.after(() => clearInterval(burning))
  const response = await send('profile?seconds=1')
  clearInterval(burning)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/octet-stream')
  const { types, samples, durationNs } = readProfile(Buffer.from(await response.arrayBuffer()))
  assert.deepEqual(types, ['samples/count', 'cpu/nanoseconds'])
  assert.ok(durationNs >= 900_000_000, `${durationNs}`)
  const own = samples.filter(({ stack }) => stack.includes('burnCpuForTheProfile'))
  const nanoseconds = own.reduce((sum, { values }) => sum + (values[1] ?? 0), 0)
  assert.ok(nanoseconds > 50_000_000, `${nanoseconds}`)
  assert.ok(!samples.some(({ stack }) => stack.includes('(idle)')))
})

test('a heap profile shows where memory in use was allocated', async (t) => {
  const { send } = await open(t)
  const kept: unknown[] = []
  function allocateForTheProfile(): void {
    for (let n = 0; n < 200_000; n += 1) kept.push({ n, text: `value ${n}` })
  }
  allocateForTheProfile()
  for (const name of ['heap', 'allocs']) {
    const response = await send(name)
    const { types, samples } = readProfile(Buffer.from(await response.arrayBuffer()))
    assert.deepEqual(types, ['inuse_objects/count', 'inuse_space/bytes'])
    const own = samples.filter(({ stack }) => stack.includes('allocateForTheProfile'))
    const bytes = own.reduce((sum, { values }) => sum + (values[1] ?? 0), 0)
    assert.ok(bytes > 1_000_000, `${bytes}`)
  }
  assert.equal(kept.length, 200_000)
})

test('there is an index, and invalid requests are refused', async (t) => {
  const { send, url, log } = await open(t)
  assert.deepEqual(log, [`Profiles are served at ${url}`])
  assert.match(await (await send('')).text(), /\/debug\/pprof\/profile\?seconds=30/)
  assert.equal(await (await send('cmdline')).text(), process.argv.join('\0'))
  for (const [path, status] of [
    ['goroutine', 404],
    ['profile?seconds=0', 400],
    ['profile?seconds=301', 400],
    ['profile?seconds=x', 400],
  ] as const) {
    assert.equal((await send(path)).status, status, path)
  }
  assert.equal((await send('', { method: 'POST' })).status, 405)
})

test('only one CPU profile is taken at a time, and it ends if its client disconnects', async (t) => {
  const { send } = await open(t)
  const client = new AbortController()
  const long = send('profile?seconds=300', { signal: client.signal })
  const takeShort = async () => (await send('profile?seconds=0.01')).status
  await until(async () => (await takeShort()) === 409)
  client.abort()
  await assert.rejects(long)
  await until(async () => (await takeShort()) === 200)
})

test('a port that is in use is logged and does not stop the server', async (t) => {
  const { url } = await open(t)
  const port = Number(new URL(url).port)
  const errors: unknown[] = []
  const log = {
    info: () => assert.fail('it does not listen'),
    error: (text: unknown) => errors.push(text),
  }
  // The second worker uses the next port, so the configured one is one less.
  const second = await openProfiler({
    config: { host: '127.0.0.1', port: port - 1 },
    workerNumber: 2,
    log,
  })
  t.after(() => second[Symbol.asyncDispose]())
  assert.equal(second.url, undefined)
  assert.match(
    String(errors[0]),
    new RegExp(`cannot listen on 127.0.0.1, port ${port}: .*EADDRINUSE`),
  )
})
