import { uuidPattern } from '../../sessions/bearer.ts'
import { passkeyNotFound } from '../management.ts'

/** The passkey in the path. @throws {ApiError} */
export function readPasskeyId(params: Readonly<Record<string, string>>): string {
  const id = params['passkey_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw passkeyNotFound()
}
