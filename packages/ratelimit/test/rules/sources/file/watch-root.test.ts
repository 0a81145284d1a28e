import assert from 'node:assert/strict'
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import {
  letEventsPass,
  makeDirectory,
  openSource,
  toRuleFile,
  until,
} from '../../../support/file-source.ts'

/** Creates a release with one rule file and returns the parent of all releases. */
async function makeRelease(parent: string, name: string, requests: number): Promise<void> {
  await mkdir(join(parent, name, 'config'), { recursive: true })
  await writeFile(join(parent, name, 'config', 'basic.yaml'), toRuleFile(requests))
}

/** A parent with the release `v1` and the link `current` to it. */
async function makeReleases(t: TestContext) {
  const parent = await makeDirectory(t)
  await makeRelease(parent, 'v1', 1)
  const root = join(parent, 'current')
  await symlink('v1', root)
  return { parent, root }
}

/** Swaps the link atomically, like deployment tools. */
async function swap(parent: string, target: string): Promise<void> {
  await symlink(target, join(parent, 'current.new'))
  await rename(join(parent, 'current.new'), join(parent, 'current'))
}

suite('watching the root link', () => {
  test('each swap of the link loads the new release', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    assert.equal(source.requests(), 1)
    for (const requests of [2, 3]) {
      await makeRelease(parent, `v${requests}`, requests)
      await swap(parent, `v${requests}`)
      await until(() => source.requests() === requests, `release ${requests} is in force`)
    }
    await swap(parent, 'v1')
    await until(() => source.requests() === 1, 'the first release is back')
    assert.equal(source.failures.length, 0)
  })

  test('a link that is deleted and created again is noticed too', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    await makeRelease(parent, 'v2', 2)
    await unlink(root)
    await symlink('v2', root)
    await until(() => source.requests() === 2, 'the new release is in force')
  })

  test('edits inside are not noticed', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    await writeFile(join(root, 'config', 'basic.yaml'), toRuleFile(50))
    await writeFile(join(root, 'config', 'more.yaml'), toRuleFile(60, 'more'))
    await letEventsPass()
    assert.equal(source.requests(), 1)
    assert.equal(source.snapshots.length, 1)
    await makeRelease(parent, 'v2', 2)
    await swap(parent, 'v2')
    await until(() => source.requests() === 2, 'the swap is noticed')
    assert.ok(source.snapshots.length >= 2)
  })

  test('other links beside the root do not matter', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    await symlink('v1', join(parent, 'other'))
    await writeFile(join(parent, 'file'), 'x')
    await letEventsPass()
    assert.equal(source.statistics.loadAttempts.value, 1)
  })

  test('an invalid release keeps the old rules', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    await makeRelease(parent, 'v2', 2)
    await writeFile(join(parent, 'v2', 'config', 'broken.yaml'), 'domain: [')
    await swap(parent, 'v2')
    await until(() => source.failures.length >= 1, 'the release is refused')
    assert.equal(source.requests(), 1)
    assert.match(source.failures[0]?.message ?? '', /^config\.broken\.yaml: /)
  })

  test('a release without the app folder keeps the old rules', async (t) => {
    const { parent, root } = await makeReleases(t)
    const source = await openSource(t, { root, watchRoot: true })
    await mkdir(join(parent, 'v2'))
    await swap(parent, 'v2')
    await until(() => source.failures.length >= 1, 'the release is refused')
    assert.equal(source.requests(), 1)
    await makeRelease(parent, 'v2', 2)
    await until(() => source.requests() === 2, 'the app folder is there')
  })

  test('a root that is missing at startup is loaded when it appears, even if its parents are missing too', async (t) => {
    const parent = join(await makeDirectory(t), 'srv', 'runtime')
    const source = await openSource(t, { root: join(parent, 'current'), watchRoot: true })
    assert.equal(source.snapshots.length, 0)
    assert.equal(source.failures.length, 1)
    await makeRelease(parent, 'v1', 1)
    await symlink('v1', join(parent, 'current'))
    await until(() => source.requests() === 1, 'the rules are found')
    await makeRelease(parent, 'v2', 2)
    await swap(parent, 'v2')
    await until(() => source.requests() === 2, 'the swap is noticed')
  })

  test('a root that is a folder may be replaced', async (t) => {
    const parent = await makeDirectory(t)
    await makeRelease(parent, 'current', 1)
    await makeRelease(parent, 'next', 2)
    const source = await openSource(t, { root: join(parent, 'current'), watchRoot: true })
    await rename(join(parent, 'current'), join(parent, 'previous'))
    await rename(join(parent, 'next'), join(parent, 'current'))
    await until(() => source.requests() === 2, 'the new folder is in force')
  })

  test('the parent may be replaced as well', async (t) => {
    const base = await makeDirectory(t)
    const parent = join(base, 'releases')
    await makeRelease(parent, 'v1', 1)
    await symlink('v1', join(parent, 'current'))
    const source = await openSource(t, { root: join(parent, 'current'), watchRoot: true })
    await rm(parent, { recursive: true })
    await makeRelease(parent, 'v2', 2)
    await symlink('v2', join(parent, 'current'))
    await until(() => source.requests() === 2, 'the new parent is noticed')
    await makeRelease(parent, 'v3', 3)
    await swap(parent, 'v3')
    await until(() => source.requests() === 3, 'the new parent is watched')
  })
})
