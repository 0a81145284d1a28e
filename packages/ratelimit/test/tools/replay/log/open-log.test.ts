import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { openLog } from '../../../../src/tools/replay/log/open-log.ts'

async function makeFile(t: TestContext, content: Buffer): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'log-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'log')
  await writeFile(path, content)
  return path
}

const nothing = Readable.from([])
const never = new AbortController().signal
const text = 'one\ntwo\n'.repeat(100_000)

async function read(path: string, stdin: NodeJS.ReadableStream = nothing): Promise<string> {
  const chunks: Buffer[] = []
  const log = await openLog(path, stdin)
  for await (const chunk of log.chunks(never)) chunks.push(chunk)
  if (log.sizeBytes !== undefined) assert.equal(log.readBytes, log.sizeBytes)
  return Buffer.concat(chunks).toString()
}

suite('a log', () => {
  const half = text.length / 2
  const twice = (compress: (bytes: Buffer) => Buffer) =>
    Buffer.concat([
      compress(Buffer.from(text.slice(0, half))),
      compress(Buffer.from(text.slice(half))),
    ])
  const kinds: [name: string, content: Buffer][] = [
    ['plain', Buffer.from(text)],
    ['gzip', gzipSync(text)],
    ['gzip in two parts', twice(gzipSync)],
    ['Zstandard', zstdCompressSync(text)],
    ['Zstandard in two parts', twice(zstdCompressSync)],
  ]
  for (const [name, content] of kinds) {
    test(`is read: ${name}`, async (t) => {
      assert((await read(await makeFile(t, content))) === text)
    })
  }

  test('may be standard input, compressed or not', async () => {
    assert((await read('-', Readable.from([Buffer.from(text)]))) === text)
    assert((await read('-', Readable.from([gzipSync(text)]))) === text)
  })

  test('may arrive in pieces of any size', async () => {
    const parts = ['one\n', 'two\n', '', 'three\n']
    for (const compress of [gzipSync, zstdCompressSync]) {
      const bytes = Buffer.concat(parts.map((part) => compress(part)))
      for (let size = 1; size < 40; size += 1) {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        )
        assert.equal(await read('-', Readable.from(pieces)), parts.join(''), `${size} bytes`)
      }
    }
  })

  test('may be closed before its end', async (t) => {
    for (const content of [gzipSync(text), zstdCompressSync(text), Buffer.from(text)]) {
      const log = await openLog(await makeFile(t, content), nothing)
      for await (const chunk of log.chunks(never)) {
        assert(chunk.length > 0)
        break
      }
    }
  })

  test('is not read after the signal, even if it never ends', async () => {
    const interruption = new AbortController()
    const endless = new Readable({ read() {} })
    endless.push('one\n')
    const log = await openLog('-', endless)
    const first = 'one\n'
    const reading = (async () => {
      for await (const chunk of log.chunks(interruption.signal)) {
        assert.equal(chunk.toString(), first)
        interruption.abort()
      }
    })()
    await assert.rejects(reading)
  })

  test('may be empty', async (t) => {
    assert.equal(await read(await makeFile(t, Buffer.alloc(0))), '')
  })

  test('that is truncated fails when its end is reached', async (t) => {
    const path = await makeFile(t, gzipSync(text).subarray(0, -20))
    await assert.rejects(read(path), { code: 'Z_BUF_ERROR' })
  })

  test('that does not exist is reported before anything is read', async () => {
    await assert.rejects(openLog('/nowhere/log', nothing), { code: 'ENOENT' })
    await assert.rejects(openLog(tmpdir(), nothing), /it is a folder/)
  })
})
