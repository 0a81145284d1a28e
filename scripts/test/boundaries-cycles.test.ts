import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { boundaries } from '../boundaries/allowed-imports/index.ts'
import { findStaleNames, findViolations } from '../boundaries/find-violations.ts'
import { findFolder, topLevel } from '../boundaries/folders.ts'
import { readSources } from '../boundaries/read-sources.ts'

const root = dirname(dirname(import.meta.dirname))

test('refused: a cycle, also of types and lazy imports', () => {
  const folder = 'packages/portcullis/src/mailbox'
  const sources = new Map([
    [`${folder}/a.ts`, "import type { B } from './b.ts'\n\nexport type A = B\n"],
    [`${folder}/b.ts`, "export { c } from './c.ts'\nexport type B = 1\n"],
    [`${folder}/c.ts`, "export const c = () => import('./a.ts')\n"],
    [`${folder}/list.ts`, "import { entry } from './entry.ts'\n"],
    [`${folder}/entry.ts`, 'export const entry = 1\n'],
  ])
  const [cycle, ...others] = findViolations(sources, boundaries)
  assert.deepEqual(others, [])
  assert.equal(`${cycle?.file}:${cycle?.line}:${cycle?.column}`, `${folder}/a.ts:1:24`)
  assert.match(cycle?.text ?? '', /cycle of 3 .+\/a\.ts → .+b\.ts → .+c\.ts → .+a\.ts/)
})

test('refused: a cycle of folders whose modules form none, also of types', () => {
  const source = 'packages/auth/src'
  const sources = new Map([
    [`${source}/features/users/a.ts`, "import type { B } from '../../messages/statements/b.ts'\n"],
    [`${source}/messages/statements/b.ts`, 'export type B = 1\n'],
    [`${source}/messages/requests/c.ts`, "import { d } from '../../features/users/d.ts'\n"],
    [`${source}/features/users/d.ts`, 'export const d = 1\n'],
  ])
  const [cycle, ...others] = findViolations(sources, boundaries)
  assert.deepEqual(others, [])
  assert.equal(
    `${cycle?.file}:${cycle?.line}:${cycle?.column}`,
    `${source}/features/users/a.ts:1:24`,
  )
  assert.match(
    cycle?.text ?? '',
    /cycle of 2 folders.+a\.ts imports .+b\.ts, .+c\.ts imports .+d\.ts/,
  )
})

test('a module that assembles folders is part of no cycle of folders', () => {
  const source = 'packages/auth/src'
  const imports = [
    [`${source}/config/config.ts`, "import { sms } from '../plugins/sms/settings.ts'\n"],
    [`${source}/plugins/sms/settings.ts`, "import { checkUrl } from '../../config/checks.ts'\n"],
  ] as const
  assert.deepEqual(findViolations(new Map(imports), boundaries), [])
  const { packages } = boundaries
  const strict = { packages, folders: { auth: { folders: ['plugins/*', '*'] } } }
  assert.match(findViolations(new Map(imports), strict)[0]?.text ?? '', /cycle of 2 folders/)
  const lost = { packages: {}, folders: { auth: { folders: ['*'], apart: ['lost.ts'] } } }
  assert.deepEqual(findStaleNames([], lost), ['auth: lost.ts'])
})

test('a thread may import the module that starts it', () => {
  const folder = 'packages/portcullis/src/mailbox'
  const sources = new Map([
    [`${folder}/thread.ts`, "new Worker(new URL('./worker.ts', import.meta.url))\n"],
    [`${folder}/worker.ts`, "import type { Task } from './thread.ts'\n"],
  ])
  assert.deepEqual(findViolations(sources, boundaries), [])
})

test('refused: a model of rules that imports hot, which other folders of rules may import', () => {
  const source = 'packages/ratelimit/src'
  const imports = [
    [`${source}/hot/index.ts`, 'export const a = 1\n'],
    [`${source}/hot/b.ts`, "import type { C } from '../rules/model/c.ts'\n"],
    [`${source}/rules/model/c.ts`, 'export type C = 1\n'],
    [`${source}/rules/match/d.ts`, "import { a } from '../../hot/index.ts'\n"],
  ] as const
  assert.deepEqual(findViolations(new Map(imports), boundaries), [])
  const upward = [`${source}/rules/model/e.ts`, "import { a } from '../../hot/index.ts'\n"] as const
  const found = findViolations(new Map([...imports, upward]), boundaries)
  assert.equal(found.length, 2)
  assert.match(found[0]?.text ?? '', /cycle of 2 folders.+b\.ts imports .+c\.ts, .+e\.ts imports/)
  assert.match(found[1]?.text ?? '', /rules\/model\/e\.ts imports hot\/index\.ts/)
})

test('the check of folder cycles covers every module that assembles no folders', () => {
  const files = [...readSources(root).keys()]
  const unchecked = files.filter((file) => {
    const [, packageName = '', , ...path] = file.split('/')
    const rules = boundaries.folders?.[packageName] ?? topLevel
    return !rules.apart?.includes(path.join('/')) && findFolder(path.join('/'), rules) === undefined
  })
  assert.ok(files.length > 500)
  assert.deepEqual(unchecked, [])
})
