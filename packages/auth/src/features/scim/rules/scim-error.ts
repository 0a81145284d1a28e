import { ApiError } from '../../../errors.ts'

/** The keywords of RFC 7644, section 3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

export function scimError(scimType: ScimType, message: string): ApiError {
  const status = scimType === 'uniqueness' ? 409 : 400
  return new ApiError('scim_request_invalid', message, { status, scimType })
}
