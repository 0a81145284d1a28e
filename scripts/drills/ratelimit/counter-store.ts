import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type PluginsModule = typeof import('../../../packages/ratelimit/src/counters/plugins.ts')
type LimiterModule = typeof import('../../../packages/ratelimit/src/index.ts')

export const counterStore: Drill = {
  kind: 'counter store',
  package: 'ratelimit',
  file: 'src/counters/abacus.ts',
  source: `
import { type Chapter, integer } from '@portcullis/service-kit/settings/env'
import type { CounterStore } from './counter-store.ts'
import type { OpenUrl, StorePlugin } from './store-plugin.ts'

const chapter = {
  title: 'Abacus',
  variables: { beads: integer('ABACUS_BEADS', 10, 'How many beads there are', { min: 1 }) },
} satisfies Chapter

/** Counts every key to the same number. */
function openAbacus(beads: number): CounterStore {
  const add: CounterStore['add'] = (increments, _deadlineMs, counted) => {
    for (const increment of increments) increment.after = beads
    counted(undefined)
  }
  return { add, addSparing: add, read: add, async [Symbol.asyncDispose]() {} }
}

export const openUrl: OpenUrl = async (url) => {
  const beads = Number(url.slice('abacus://'.length))
  return { store: openAbacus(beads), ready: Promise.resolve() }
}

export const abacus: StorePlugin<
  { abacus: typeof chapter },
  { readonly kind: 'abacus'; readonly beads: number }
> = {
  kind: 'abacus',
  backendTypes: ['abacus'],
  place: 'on an abacus',
  chapters: { abacus: chapter },
  choosingVariables: [],
  warnedVariables: [],
  isShared: false,
  toConfig: (settings) => ({ kind: 'abacus', beads: settings.abacus.beads }),
  async open({ beads }, { statistics }) {
    statistics.gauge('ratelimit.abacus.beads', () => beads)
    return {
      store: openAbacus(beads),
      ready: Promise.resolve(),
      countsBeforeAnswer: true,
      warmsUp: false,
      span: { name: 'Abacus', toAttributes: ({ length }) => ({ beads: length }) },
    }
  },
}
`,
  index: {
    file: 'src/counters/index.ts',
    list: 'stores',
    entry: `{
      loadPlugin: async () => (await import('./abacus.ts')).abacus,
      urlSchemes: ['abacus:'],
      openUrl: async (url, parts) => (await import('./abacus.ts')).openUrl(url, parts),
    }`,
  },
  help: ['ABACUS_BEADS', 'on an abacus'],
  async prove(copy) {
    assert.equal((await parseCopiedConfig(copy, {})).store.kind, 'memory')
    const config = await parseCopiedConfig(copy, { BACKEND_TYPE: 'abacus', ABACUS_BEADS: '7' })
    assert.equal(config.workers, 1)
    const { openStore } = await copy.load<PluginsModule>('src/counters/plugins.ts')
    const gauges = new Map<string, () => number>()
    const nothing = () => {}
    const opened = await openStore(config.store, {
      log: {
        fatal: nothing,
        error: nothing,
        warning: nothing,
        info: nothing,
        debug: nothing,
        trace: nothing,
        isEnabled: () => false,
      },
      statistics: {
        counter: () => ({ value: 0 }),
        gauge: (name, read) => gauges.set(name, read),
      },
      expirationJitterMaxSeconds: 0,
      isCompatible: false,
      onHealth: nothing,
    })
    assert.equal(gauges.get('ratelimit.abacus.beads')?.(), 7)
    assert.equal(opened.span?.name, 'Abacus')

    const { createRateLimiter } = await copy.load<LimiterModule>('src/index.ts')
    await using limiter = createRateLimiter({ limits: { ip: '9/day' }, store: 'abacus://7' })
    const { statuses } = await limiter.limit({ ip: 'a' })
    assert.equal(statuses[0]?.remaining, 2)
  },
}
