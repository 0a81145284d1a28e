import type { SinkPlugin } from './sink.ts'

export interface NoSinkConfig {
  readonly kind: 'none'
}

/** Used for DISABLE_STATS: statistics are not sent anywhere. */
export const none: SinkPlugin<Record<never, never>, NoSinkConfig> = {
  kind: 'none',
  chapters: {},
  choice: undefined,
  isChosen: () => false,
  toConfig: () => ({ kind: 'none' }),
  open: () => ({ flush: async () => {}, [Symbol.asyncDispose]: async () => {} }),
}
