import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createOneAtATime } from '../../../../src/rules/sources/file/watch.ts'
import { makeDirectory, openSource, replaceFile, until } from '../../../support/file-source.ts'
import { toDescriptor } from '../../../support/nested-rules.ts'

const ruleCount = 3_000

/** All rules of one version have the same limit. */
function toManyRules(requests: number): string {
  const rules = Array.from(
    { length: ruleCount },
    (_, i) => `  - key: k
    value: v${i}
    rate_limit: { unit: minute, requests_per_unit: ${requests} }
`,
  )
  return `domain: d\ndescriptors:\n${rules.join('')}`
}

suite('reloading', () => {
  test('matching continues during a reload, and never sees a mixture', async (t) => {
    const root = await makeDirectory(t)
    await mkdir(join(root, 'config'))
    const file = join(root, 'config', 'many.yaml')
    await writeFile(file, toManyRules(1))
    const source = await openSource(t, { root, watchRoot: false })
    assert.equal(source.snapshots[0]?.ruleCount, ruleCount)

    const descriptors = [0, 1, ruleCount / 2, ruleCount - 1].map((i) => toDescriptor(`k=v${i}`))
    const seen = new Set<number>()
    let rounds = 0
    const matchAll = () => {
      const snapshot = source.snapshots.at(-1)
      const limits = descriptors.map((each) => snapshot?.match('d', each)?.limit.requestsPerUnit)
      assert.equal(new Set(limits).size, 1, `a mixture: ${limits}`)
      seen.add(limits[0] ?? -1)
      rounds += 1
    }
    for (const requests of [2, 3]) {
      await replaceFile(file, toManyRules(requests))
      await until(() => {
        matchAll()
        return seen.has(requests)
      }, `version ${requests} is in force`)
    }
    assert.deepEqual([...seen], [1, 2, 3])
    assert.ok(source.snapshots.length >= 3)
    assert.ok(rounds > 3)
  })

  test('statistics of a rule stay the same counters', async (t) => {
    const root = await makeDirectory(t)
    await mkdir(join(root, 'config'))
    const file = join(root, 'config', 'many.yaml')
    await writeFile(file, toManyRules(1))
    const source = await openSource(t, { root, watchRoot: false })
    await replaceFile(file, toManyRules(2))
    await until(() => source.snapshots.length >= 2, 'the rules are loaded again')
    const [before, after] = source.snapshots.map((each) => each.match('d', toDescriptor('k=v7')))
    assert.ok(before)
    assert.equal(before.counters, after?.counters)
    assert.notEqual(before.limit, after?.limit)
  })

  test('an error in the receiver of a snapshot does not end the source', async (t) => {
    const root = await makeDirectory(t)
    await mkdir(join(root, 'config'))
    const file = join(root, 'config', 'many.yaml')
    await writeFile(file, toManyRules(1))
    let calls = 0
    const source = await openSource(t, {
      root,
      watchRoot: false,
      onSnapshot() {
        calls += 1
        if (calls === 1) throw new Error('not now')
      },
    })
    assert.equal(source.failures[0]?.message, 'not now')
    await replaceFile(file, toManyRules(2))
    await until(() => calls >= 2, 'the next load is reported')
  })
})

suite('one run at a time', () => {
  test('any number of requests during a run cause one more run', async () => {
    const gates: (() => void)[] = []
    let runs = 0
    const work = createOneAtATime(async () => {
      runs += 1
      await new Promise<void>((resolve) => gates.push(resolve))
    })
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    work.request()
    work.request()
    work.request()
    await turn()
    assert.equal(runs, 1)
    gates[0]?.()
    await turn()
    assert.equal(runs, 2)
    gates[1]?.()
    await turn()
    assert.equal(runs, 2)
    work.request()
    await turn()
    assert.equal(runs, 3)
    work.request()
    gates[2]?.()
    await work.close()
    assert.equal(runs, 3)
  })
})
