import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { parseCopiedConfig } from './config.ts'

type CountersModule = typeof import('../../../packages/ratelimit/src/counters/index.ts')

export const counterStore: Drill = {
  kind: 'counter store',
  package: 'ratelimit',
  file: 'src/counters/abacus.ts',
  source: `
import { type Chapter, integer } from '@portcullis/service-kit/env'
import type { StorePlugin } from './store-plugin.ts'

const chapter = {
  title: 'Abacus',
  variables: { beads: integer('ABACUS_BEADS', 10, 'How many beads there are', { min: 1 }) },
} satisfies Chapter

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
      store: {
        add: (_increments, _deadlineMs, counted) => counted(undefined),
        addSparing: (_increments, _deadlineMs, counted) => counted(undefined),
        read: (_increments, _deadlineMs, counted) => counted(undefined),
        async [Symbol.asyncDispose]() {},
      },
      ready: Promise.resolve(),
      countsBeforeAnswer: true,
      warmsUp: false,
      span: { name: 'Abacus', toAttributes: ({ length }) => ({ beads: length }) },
    }
  },
}
`,
  exported: 'abacus',
  index: { file: 'src/counters/index.ts', list: 'stores' },
  help: ['ABACUS_BEADS', 'on an abacus'],
  async prove(copy) {
    assert.equal((await parseCopiedConfig(copy, {})).store.kind, 'memory')
    const config = await parseCopiedConfig(copy, { BACKEND_TYPE: 'abacus', ABACUS_BEADS: '7' })
    assert.equal(config.workers, 1)
    const { openStore } = await copy.load<CountersModule>('src/counters/index.ts')
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
  },
}
