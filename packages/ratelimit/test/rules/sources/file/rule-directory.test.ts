import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readRuleDirectory } from '../../../../src/rules/sources/file/rule-directory.ts'

async function createDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rules-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

test('the *.yaml files in the folder are read in the order of their names', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, 'b.yaml'), '\ufeffdomain: b')
  await writeFile(join(directory, 'a.yaml'), `# ${'é'.repeat(400_000)}\ndomain: a`)
  await symlink('b.yaml', join(directory, 'c.yaml'))
  const { files, skipped, unreadable } = await readRuleDirectory(directory, {
    ignoreDotFiles: false,
  })
  assert.deepEqual(
    files.map(({ name, text }) => ({ name, text })),
    [
      { name: 'a.yaml', text: `# ${'é'.repeat(400_000)}\ndomain: a` },
      { name: 'b.yaml', text: 'domain: b' },
      { name: 'c.yaml', text: 'domain: b' },
    ],
  )
  const [large, small] = files
  assert.ok((large?.pieces?.length ?? 0) > 1, 'a large file is kept in pieces too')
  assert.ok(large?.pieces?.join('') === large?.text, 'the pieces are the text')
  assert.equal(small?.pieces, undefined)
  assert.deepEqual(skipped, [])
  assert.deepEqual(unreadable, [])
})

test('files that envoyproxy/ratelimit would read are reported as skipped', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, 'rules.yml'), '')
  await writeFile(join(directory, 'README'), '')
  await writeFile(join(directory, '.swp'), '')
  await mkdir(join(directory, 'nested'))
  await writeFile(join(directory, 'nested', 'a.yaml'), '')
  await mkdir(join(directory, 'pictures.yaml'))
  const { files, skipped } = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(files, [])
  assert.deepEqual(
    skipped.map((entry) => entry.name),
    ['README', 'nested', 'rules.yml'],
  )
})

test('policy tests next to the rules are skipped silently', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, 'a.yaml'), 'domain: a')
  await writeFile(join(directory, 'a.test.yaml'), '# Policy tests\ndomain: a\ntests:\n  - name: x')
  await writeFile(join(directory, 'b.test.yaml'), '{ "tests": [] }')
  await writeFile(join(directory, 'c.test.yaml'), Uint8Array.of(0xff))
  await writeFile(join(directory, '.d.test.yaml'), 'tests: []')
  assert.deepEqual(await readRuleDirectory(directory, { ignoreDotFiles: false }), {
    files: [{ name: 'a.yaml', text: 'domain: a' }],
    skipped: [],
    unreadable: [],
  })
})

test('rules in a file with the name of a policy test are reported as skipped', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, 'a.test.yaml'), 'domain: a\ndescriptors:\n  - key: tests\n')
  const { files, skipped } = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(files, [])
  assert.equal(skipped[0]?.name, 'a.test.yaml')
  assert.match(skipped[0]?.reason ?? '', /has no 'tests'/)
})

test('dot files are read unless they are ignored by a setting', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, '.hidden.yaml'), 'domain: h')
  const read = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(read.files, [{ name: '.hidden.yaml', text: 'domain: h' }])
  const ignored = await readRuleDirectory(directory, { ignoreDotFiles: true })
  assert.deepEqual(ignored, { files: [], skipped: [], unreadable: [] })
})

test('a mounted ConfigMap is read once, before and after its swap', async (t) => {
  const directory = await createDirectory(t)
  for (const version of ['1', '2']) {
    await mkdir(join(directory, `..2026_${version}`))
    await writeFile(join(directory, `..2026_${version}`, 'a.yaml'), `domain: v${version}`)
  }
  await symlink('..2026_1', join(directory, '..data'))
  await symlink('..data/a.yaml', join(directory, 'a.yaml'))
  const before = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(before.files, [{ name: 'a.yaml', text: 'domain: v1' }])
  assert.deepEqual(before.skipped, [])
  await symlink('..2026_2', join(directory, '..data_tmp'))
  await rename(join(directory, '..data_tmp'), join(directory, '..data'))
  const after = await readRuleDirectory(directory, { ignoreDotFiles: true })
  assert.deepEqual(after.files, [{ name: 'a.yaml', text: 'domain: v2' }])
})

test('a file that cannot be read is reported and the others are read; one that is not text is reported with its line', async (t) => {
  const directory = await createDirectory(t)
  await symlink('nowhere', join(directory, 'a.yaml'))
  await writeFile(join(directory, 'b.yaml'), Buffer.from('# \u00e9\nd\xff', 'latin1'))
  await writeFile(join(directory, 'c.yaml'), 'domain: c')
  await writeFile(
    join(directory, 'd.yaml'),
    Buffer.concat([Buffer.from('# é\n\n'), Buffer.of(0xc3)]),
  )
  const { files, unreadable } = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(files, [{ name: 'c.yaml', text: 'domain: c' }])
  assert.deepEqual(
    unreadable.map((entry) => entry.name),
    ['a.yaml', 'b.yaml', 'd.yaml'],
  )
  assert.match(unreadable[0]?.reason ?? '', /^no such file or directory$/)
  const reason = 'the file is not UTF-8 text'
  assert.deepEqual(unreadable.slice(1), [
    { name: 'b.yaml', reason, brokenLine: 1 },
    { name: 'd.yaml', reason, brokenLine: 3 },
  ])
})

test('a folder that cannot be read is an error', async (t) => {
  const directory = await createDirectory(t)
  const reading = readRuleDirectory(join(directory, 'nowhere'), { ignoreDotFiles: false })
  await assert.rejects(reading, { code: 'ENOENT' })
})

test('a file above the size limit is a fault, and is not read further', async (t) => {
  const directory = await createDirectory(t)
  await writeFile(join(directory, 'a.yaml'), 'domain: a')
  await writeFile(join(directory, 'large.yaml'), `domain: b\n# ${'x'.repeat(1_000)}`)
  const options = { ignoreDotFiles: false, fileLimitBytes: 1_000 }
  const { files, unreadable } = await readRuleDirectory(directory, options)
  assert.deepEqual(
    files.map(({ name }) => name),
    ['a.yaml'],
  )
  const reason = 'the file is larger than 1000 bytes (RUNTIME_FILE_LIMIT_BYTES)'
  assert.deepEqual(unreadable, [{ name: 'large.yaml', reason, brokenLine: 1 }])
})

test('a line that is not text is also found after the first piece', async (t) => {
  const directory = await createDirectory(t)
  const lines = Buffer.from(`${'é'.repeat(99)}\n`.repeat(3_000))
  const broken = Buffer.concat([lines, Uint8Array.of(0x61, 0xff, 0x0a), lines])
  await writeFile(join(directory, 'a.yaml'), broken)
  const { unreadable } = await readRuleDirectory(directory, { ignoreDotFiles: false })
  assert.deepEqual(
    unreadable.map(({ brokenLine }) => brokenLine),
    [3_001],
  )
})
