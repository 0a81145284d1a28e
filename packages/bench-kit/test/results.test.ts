import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { createResultWriter } from '../src/results.ts'

test('results are written as JSON, text unchanged, and the relative path is returned', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-kit-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = createResultWriter(join(folder, 'results'))
  const files = [await write('a.json', { rounds: 2 }), await write('a.svg', '<svg/>')]
  const texts = await Promise.all(files.map((file) => readFile(resolve(file), 'utf8')))
  assert.deepEqual(texts, ['{\n  "rounds": 2\n}\n', '<svg/>'])
})
