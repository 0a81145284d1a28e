import type { ApiConfig } from '../config/api.ts'

/**
 * Whether a request speaks the dialect of today's client (reference 1.2). It chooses words, shapes and
 * defaults, never whether something is checked.
 */
export function isSdkDialect(mode: ApiConfig['compatMode'], version: string | undefined): boolean {
  if (mode !== 'auto') return mode === 'upstream'
  if (version === undefined || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version >= '2024-01-01' && !Number.isNaN(Date.parse(version))
}
