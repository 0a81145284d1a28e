import { ApiError } from '../../../errors.ts'

/** An entity tag. */
export function toVersion(updatedAt: string): string {
  return `W/"${updatedAt}"`
}

/**
 * RFC 7644, section 3.14. Call it with the row that the change is based on, so that a concurrent
 * change is not overwritten.
 * @param wanted the header `If-Match`.
 * @throws {ApiError}
 */
export function checkVersion(
  wanted: string | undefined,
  { updated_at: updatedAt }: { readonly updated_at: string },
): void {
  if (wanted === undefined || wanted === '*') return
  const versions = wanted.split(',').map((version) => version.trim())
  if (versions.includes(toVersion(updatedAt))) return
  throw new ApiError('conflict', 'The resource was changed in the meantime', { status: 412 })
}
