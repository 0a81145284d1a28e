import type { CompatMode } from '../../config/compatibility.ts'

/**
 * Whether to behave like current Supabase Auth. This selects messages, response formats and defaults,
 * and may add a check, but never removes one.
 */
export function isSdkDialect(mode: CompatMode, version: string | undefined): boolean {
  return mode === 'auto' ? isVersion(version) : mode === 'upstream'
}

/**
 * Whether errors have the versioned form, which clients request by the header, as with Supabase
 * Auth.
 */
export function wantsVersionedErrors(mode: CompatMode, version: string | undefined): boolean {
  return mode !== 'specification' && isVersion(version)
}

function isVersion(version: string | undefined): boolean {
  if (version === undefined || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version >= '2024-01-01' && !Number.isNaN(Date.parse(version))
}
