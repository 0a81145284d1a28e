import { invalid } from '../../errors.ts'

/** The pattern of HTML for input fields, which allows hosts without a dot. */
const pattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/**
 * As it is stored and compared: in lower case.
 * @throws {ApiError}
 */
export function parseEmail(text: string | undefined): string {
  if (text === undefined || text === '') throw invalid('An email address is required')
  if (Buffer.byteLength(text) > 255) throw invalid('An email address is too long')
  if (!pattern.test(text)) throw invalid('Unable to validate email address: invalid format')
  return text.toLowerCase()
}
