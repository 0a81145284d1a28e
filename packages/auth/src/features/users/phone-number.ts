import { invalid } from '../../errors.ts'

/**
 * E.164 as it is stored and returned: digits without the plus.
 * @throws {ApiError}
 */
export function parsePhone(text: string): string {
  const digits = text.replace(/^\+/, '').replaceAll(' ', '')
  if (!/^[1-9]\d{1,14}$/.test(digits)) {
    throw invalid('Invalid phone number format (E.164 required)')
  }
  return digits
}
