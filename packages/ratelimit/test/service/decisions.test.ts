/**
 * @servers redis, redis-cluster, redis-sentinel
 * @slow
 */
import { test } from 'node:test'
import { stores } from '../support/service-stores.ts'
import { descriptors } from './decisions/descriptors.ts'
import { hits } from './decisions/hits.ts'
import { keys } from './decisions/keys.ts'
import { modes } from './decisions/modes.ts'
import { overrides } from './decisions/overrides.ts'
import { createStage } from './decisions/scenario.ts'
import { vectors } from './decisions/vectors.ts'
import { windows } from './decisions/windows.ts'

const scenarios = [...vectors, ...hits, ...overrides, ...descriptors, ...modes, ...windows]

for (const [name, openStore] of Object.entries(stores)) {
  test(`decisions counted in ${name}`, async (t) => {
    const store = await openStore(t)
    if (!store) return
    for (const scenario of scenarios) {
      await t.test(scenario.name, async (t) => {
        await store.inside?.clear()
        await scenario.run(createStage(t, store))
      })
    }
    const { inside } = store
    if (inside === undefined) return
    for (const scenario of keys) {
      await t.test(scenario.name, async (t) => {
        await inside.clear()
        await scenario.run(createStage(t, store), inside)
      })
    }
  })
}
