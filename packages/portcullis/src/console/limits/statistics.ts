import { ConsoleError } from '../errors.ts'
import type { RatelimitTarget } from '../settings.ts'
import { callUpstream, requireCounters } from '../upstream.ts'

export interface RuleCounts {
  readonly total: number
  readonly within: number
  readonly near: number
  readonly over: number
  readonly shadow: number
}

export const noCounts: RuleCounts = { total: 0, within: 0, near: 0, over: 0, shadow: 0 }

/** The parts of `/stats` that the console uses. */
export interface LimitStatistics {
  /** How often rules were loaded successfully, and how often rules were rejected. */
  readonly loads: number
  readonly refusals: number
  /** By statistics key; keys that never counted are left out. */
  readonly rules: ReadonlyMap<string, RuleCounts>
}

const rulePrefix = 'ratelimit.service.rate_limit.'
const ruleStatistics: Readonly<Record<string, keyof RuleCounts>> = {
  total_hits: 'total',
  within_limit: 'within',
  near_limit: 'near',
  over_limit: 'over',
  shadow_mode: 'shadow',
}

/** The suffix that EXTRA_TAGS appends to all names. */
const extraTags = /(?:\.__[^.=]+=[^.]*)+$/

export const serviceName = 'The rate limit service'

export type DebugTarget = Pick<RatelimitTarget, 'debugUrl' | 'debugToken'>

/** For pages that the service shows to other machines only with its token. */
export function toTokenHeaders({
  debugToken,
}: Pick<DebugTarget, 'debugToken'>): Record<string, string> {
  return debugToken === undefined ? {} : { authorization: `Bearer ${debugToken}` }
}

/** @throws {ConsoleError} if the service does not respond, or the URL belongs to another server. */
export async function readStatistics(
  debugUrl: string,
  options: RequestInit = {},
): Promise<LimitStatistics> {
  return parseStatistics(await readDebugPage(debugUrl, '/stats', options))
}

/** Also requires that counters are present. @throws {ConsoleError} if the service does not report any. */
export async function readCounters(debugUrl: string): Promise<LimitStatistics> {
  const text = await readDebugPage(debugUrl, '/stats')
  requireCounters(text)
  return parseStatistics(text)
}

export async function readDebugPage(
  debugUrl: string,
  path: string,
  options: RequestInit = {},
): Promise<string> {
  const answer = await callUpstream(serviceName, `${debugUrl}${path}`, options)
  if (answer.ok) return await answer.text()
  await answer.body?.cancel()
  const message = `${serviceName} responded with status ${answer.status} to ${path}. Check that ${debugUrl} is its debug port.`
  throw new ConsoleError(502, 'upstream_refused', message)
}

export function parseStatistics(text: string): LimitStatistics {
  const rules = new Map<string, { -readonly [Name in keyof RuleCounts]: number }>()
  let loads = 0
  let refusals = 0
  for (const line of text.split('\n')) {
    const colon = line.lastIndexOf(': ')
    if (colon === -1) continue
    const value = Number(line.slice(colon + 2))
    const name = line.slice(0, colon).replace(extraTags, '')
    if (name === 'ratelimit.service.config_load_success') loads = value
    else if (name === 'ratelimit.service.config_load_error') refusals = value
    // Skipped to save memory: most of many rules have never been hit.
    if (value === 0 || !name.startsWith(rulePrefix)) continue
    const dot = name.lastIndexOf('.')
    const statistic = ruleStatistics[name.slice(dot + 1)]
    if (statistic === undefined) continue
    const key = name.slice(rulePrefix.length, dot)
    const counts = rules.get(key) ?? { ...noCounts }
    counts[statistic] = value
    rules.set(key, counts)
  }
  return { loads, refusals, rules }
}
