import { toLimitText } from '../../rules/model/limit-text.ts'
import { type Unit, unitByName } from '../../rules/model/units.ts'

export interface WrittenLimit {
  readonly requestsPerUnit: number
  readonly unit: Unit
  readonly windowSeconds: number
}

const pattern = /^(\d{1,10})(?: *\/ *| +per +| +every +)(?:(\d{1,9}) +)?([a-z]+?)(s?)$/i

/** `5/minute`, `5 per minute`, `5/10 minutes` or `5 every 10 minutes`. */
export function parseWrittenLimit(text: string): WrittenLimit | undefined {
  const [, requests, count = '1', name = ''] = pattern.exec(text) ?? []
  const unit = unitByName(name)
  const requestsPerUnit = Number(requests)
  const windowSeconds = Number(count) * (unit?.seconds ?? 0)
  // No digits at all make NaN, which fails here as well.
  if (unit === undefined || !(requestsPerUnit <= 0xffff_ffff) || windowSeconds === 0)
    return undefined
  return { requestsPerUnit, unit, windowSeconds }
}

/** The one form in which limits are compared; undefined when it is none. */
export function toLimitForm(text: string): string | undefined {
  if (text === 'none' || text === 'unlimited') return text
  const limit = parseWrittenLimit(text)
  return limit && toLimitText(limit)
}
