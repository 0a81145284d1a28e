import type { DecisionRequest } from '../../../../console/routes/limits.ts'
import type { RuleRow } from '../rules/rule-rows.ts'

export interface AskedEntry {
  readonly key: string
  readonly value: string
}

/** The form. */
export interface AskedRequest {
  readonly domain: string
  readonly descriptors: readonly (readonly AskedEntry[])[]
  readonly hits: number
  /** Count nothing. */
  readonly isLook: boolean
}

export const emptyEntry: AskedEntry = { key: '', value: '' }
export const emptyRequest: AskedRequest = {
  domain: '',
  descriptors: [[emptyEntry]],
  hits: 1,
  isLook: false,
}

/** A request that meets a rule, whatever it leaves open. */
export function toExampleEntries({ levels }: RuleRow): AskedEntry[] {
  return levels.map(({ key, value }) => ({
    key,
    value: value === '' ? 'example' : value.replaceAll('*', 'example'),
  }))
}

export function toDecisionRequest(asked: AskedRequest): DecisionRequest {
  const { domain, descriptors, hits, isLook } = asked
  return {
    domain,
    descriptors: descriptors.map((entries) => ({ entries })),
    hits: isLook ? 0 : hits,
  }
}
