import { parseDuration } from '@portcullis/service-kit/duration'
import { invalid } from '../../errors.ts'

/**
 * When a ban ends. Undefined: the request is not about it; null: there is none any more.
 * @throws {ApiError}
 */
export function parseBan(text: string | undefined, nowMs: number): Date | null | undefined {
  if (text === undefined || text === '') return undefined
  if (text === 'none') return null
  const durationMs = parseDuration(text)
  if (durationMs === undefined) {
    throw invalid(
      `invalid format for ban duration: "${text}" is not a duration such as 24h or 1h30m`,
    )
  }
  return new Date(nowMs + durationMs)
}
