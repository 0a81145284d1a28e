import { passkeyNotFound } from '../../core/passkeys/management.ts'
import { uuidPattern } from '../../http/guards/bearer.ts'

/** The passkey in the path. @throws {ApiError} */
export function readPasskeyId(params: Readonly<Record<string, string>>): string {
  const id = params['passkey_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw passkeyNotFound()
}
