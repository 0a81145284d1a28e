import { FailureLog } from '@portcullis/service-kit/log/failure-log'
import { type Chapter, integer } from '@portcullis/service-kit/settings/env'
import type { OpenedStore, StoreContext, StorePlugin } from '../store-plugin.ts'

const chapter = {
  title: 'Counters in memory (BACKEND_TYPE=memory)',
  variables: {
    maxBytes: integer(
      'MEMORY_STORE_MAX_BYTES',
      2 ** 30,
      'Memory for counters in this process, about 125 bytes each; when it is full, new counters ' +
        'replace those with the fewest hits',
      { min: 1 << 20, max: 2 ** 40 },
    ),
  },
} satisfies Chapter

export interface MemoryConfig {
  readonly kind: 'memory'
  /** Whether no store is configured; a log line then says where counters are kept. */
  readonly isDefault: boolean
  readonly maxBytes: number
}

export const memory: StorePlugin<{ memory: typeof chapter }, MemoryConfig> = {
  kind: 'memory',
  backendTypes: ['memory'],
  place: 'in this process',
  chapters: { memory: chapter },
  choosingVariables: [],
  warnedVariables: [],
  isShared: false,
  toConfig: (settings, _check, isDefault) => ({
    kind: 'memory',
    isDefault,
    maxBytes: settings.memory.maxBytes,
  }),
  open,
}

async function open(
  { isDefault, maxBytes }: MemoryConfig,
  { log, statistics }: StoreContext,
): Promise<OpenedStore> {
  const { openMemoryStore } = await import('./memory-store.ts')
  if (isDefault) {
    log.warning(
      'No store is configured: counters are kept in this process, are not shared with other ' +
        'processes and are lost when it ends. Set KVSTORE_URL to count in Redis.',
    )
  }
  const evictions = new FailureLog((line) => log.warning(line), { windowMs: 60_000 })
  const onEvicted = () =>
    evictions.report(
      () =>
        `The memory store is full (${maxBytes} bytes): counters with the fewest hits are dropped, ` +
        'so clients may exceed their limits. Raise MEMORY_STORE_MAX_BYTES or count in Redis',
    )
  const store = openMemoryStore({ maxBytes, maxBytesName: 'MEMORY_STORE_MAX_BYTES', onEvicted })
  statistics.gauge('ratelimit.memory_store.counters', () => store.size)
  statistics.gauge('ratelimit.memory_store.bytes', () => store.bytes)
  statistics.gauge('ratelimit.memory_store.evicted', () => store.evicted)
  const ready = Promise.resolve()
  return { store, ready, countsBeforeAnswer: true, warmsUp: false, span: undefined }
}
