import type { LimiterName, LimitTable, RequestLimit } from './request-limits.ts'

export interface AdjustableTable {
  /** Always has the current limits. */
  readonly limits: LimitTable
  /** Replaces all limits. Requests that were counted before stay counted. */
  set(limits: LimitTable): void
}

export function createAdjustableTable(limits: LimitTable): AdjustableTable {
  const current: Record<LimiterName, RequestLimit | undefined> = { ...limits }
  return {
    limits: current,
    set(next) {
      Object.assign(current, next)
    },
  }
}
