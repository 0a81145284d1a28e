import type { SinkPlugin } from './sink.ts'

export interface NoSinkConfig {
  readonly kind: 'none'
}

/** For DISABLE_STATS: what is counted stays in the process. */
export const none: SinkPlugin<Record<never, never>, NoSinkConfig> = {
  kind: 'none',
  chapters: {},
  choice: undefined,
  isChosen: () => false,
  toConfig: () => ({ kind: 'none' }),
  open: () => ({ flush: async () => {}, [Symbol.asyncDispose]: async () => {} }),
}
