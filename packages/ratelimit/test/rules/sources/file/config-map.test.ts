import assert from 'node:assert/strict'
import { mkdir, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { makeDirectory, openSource, toRuleFile, until } from '../../../support/file-source.ts'

/**
 * A mounted ConfigMap in the layout of the kubelet: the files are in a folder named after the time, with a
 * link `..data` to it, and a link through that for each file. An update creates a new folder and renames
 * `..data`.
 */
class MountedConfigMap {
  readonly directory: string
  #version = 0

  constructor(directory: string) {
    this.directory = directory
  }

  async update(files: Readonly<Record<string, string>>): Promise<void> {
    this.#version += 1
    const at = (name: string) => join(this.directory, name)
    const version = `..2026_01_01_00_00_0${this.#version}.123456789`
    await mkdir(at(version))
    for (const [name, text] of Object.entries(files)) await writeFile(at(join(version, name)), text)
    const before = await readlink(at('..data')).catch(() => undefined)
    await symlink(version, at('..data_tmp'))
    await rename(at('..data_tmp'), at('..data'))
    for (const name of Object.keys(files)) {
      await symlink(join('..data', name), at(name)).catch(() => {})
    }
    if (before !== undefined) await rm(at(before), { recursive: true })
  }

  async forget(name: string): Promise<void> {
    await unlink(join(this.directory, name))
  }
}

async function mount(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = await makeDirectory(t)
  await mkdir(join(root, 'config'))
  const map = new MountedConfigMap(join(root, 'config'))
  await map.update(files)
  return { root, map }
}

suite('a mounted ConfigMap', () => {
  for (const ignoreDotFiles of [false, true]) {
    test(`is read once and followed, with dot files ${ignoreDotFiles ? 'ignored' : 'read'}`, async (t) => {
      const { root, map } = await mount(t, {
        'a.yaml': toRuleFile(1),
        'b.yaml': toRuleFile(1, 'b'),
      })
      const source = await openSource(t, { root, watchRoot: false, ignoreDotFiles })
      assert.equal(source.failures.length, 0)
      assert.equal(source.snapshots[0]?.ruleCount, 2)
      for (const requests of [2, 3]) {
        await map.update({ 'a.yaml': toRuleFile(requests), 'b.yaml': toRuleFile(requests, 'b') })
        await until(() => source.requests() === requests, `version ${requests} is in force`)
      }
      for (const snapshot of source.snapshots) {
        const [a, b] = [...snapshot.describe()].map((line) => line.split(': ')[1])
        assert.equal(a, b, 'files of two versions were mixed')
      }
      assert.equal(source.failures.length, 0)
    })
  }

  test('may gain and lose files', async (t) => {
    const { root, map } = await mount(t, { 'a.yaml': toRuleFile(1) })
    const source = await openSource(t, { root, watchRoot: false })
    await map.update({ 'a.yaml': toRuleFile(1), 'b.yaml': toRuleFile(2, 'b') })
    await until(() => source.requests('b') === 2, 'the new file is loaded')
    await map.update({ 'a.yaml': toRuleFile(5) })
    await map.forget('b.yaml')
    await until(
      () => source.requests() === 5 && !source.snapshots.at(-1)?.hasDomain('b'),
      'the file is gone',
    )
  })

  test('with invalid rules keeps the old ones', async (t) => {
    const { root, map } = await mount(t, { 'a.yaml': toRuleFile(1) })
    const source = await openSource(t, { root, watchRoot: false })
    await map.update({ 'a.yaml': 'domain: d\nnonsense: x\n' })
    await until(() => source.failures.length >= 1, 'the rules are refused')
    assert.equal(source.requests(), 1)
    await map.update({ 'a.yaml': toRuleFile(2) })
    await until(() => source.requests() === 2, 'the corrected rules are in force')
  })

  test('may be the root itself', async (t) => {
    const root = await makeDirectory(t)
    const map = new MountedConfigMap(root)
    await map.update({ 'a.yaml': toRuleFile(1) })
    const source = await openSource(t, { root, appDirectory: '', watchRoot: false })
    await map.update({ 'a.yaml': toRuleFile(2) })
    await until(() => source.requests() === 2, 'the new version is in force')
  })
})
