import type { ApiConfig } from '../config/api.ts'

/**
 * Whether a request speaks the dialect of today's client (reference 1.2). It chooses words, shapes and
 * defaults, never whether something is checked.
 */
export function isSdkDialect(mode: ApiConfig['compatMode'], version: string | undefined): boolean {
  return mode === 'auto' ? isVersion(version) : mode === 'upstream'
}

/** Whether errors have the form that callers ask for by the header; today's server too waits to be asked. */
export function wantsVersionedErrors(
  mode: ApiConfig['compatMode'],
  version: string | undefined,
): boolean {
  return mode !== 'specification' && isVersion(version)
}

function isVersion(version: string | undefined): boolean {
  if (version === undefined || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version >= '2024-01-01' && !Number.isNaN(Date.parse(version))
}
