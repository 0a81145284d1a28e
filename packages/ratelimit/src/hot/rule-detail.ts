import type { JsonObject, RuleRecord } from '../rules/model/rule.ts'

/** What few rules have. */
export interface RuleDetail {
  readonly replaces: readonly string[]
  readonly metadata: JsonObject | undefined
}

const none: RuleDetail = { replaces: [], metadata: undefined }

/** Undefined where there is nothing to write. */
export function toDetailText({ limit, metadata }: RuleRecord): string | undefined {
  const replaces = limit?.replaces ?? []
  if (replaces.length === 0 && metadata === undefined) return undefined
  return JSON.stringify({ replaces, metadata })
}

/** @param text that of `toDetailText`; empty where that had nothing to write. */
export function readDetail(text: string): RuleDetail {
  if (text === '') return none
  const { replaces, metadata }: Partial<RuleDetail> = JSON.parse(text)
  return { replaces: replaces ?? [], metadata }
}
