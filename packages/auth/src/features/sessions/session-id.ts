import { invalid } from '../../errors.ts'
import { uuidPattern } from './bearer.ts'

/** The session in the path. @throws {ApiError} */
export function readSessionId(params: Readonly<Record<string, string>>): string {
  const id = params['session_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('session_id must be an UUID', { status: 404 })
}
