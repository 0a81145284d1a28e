import { invalid } from '../../../errors.ts'
import { uuidPattern } from '../../sessions/bearer.ts'

/** The user in the path. @throws {ApiError} */
export function readUserId(params: Readonly<Record<string, string>>): string {
  const id = params['user_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('user_id must be an UUID', { status: 404 })
}

const nil = '00000000-0000-0000-0000-000000000000'

/** The id of a user who is to be. Undefined: any. @throws {ApiError} */
export function parseNewId(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined
  if (!uuidPattern.test(id)) throw invalid('ID must conform to the uuid v4 format')
  if (id === nil) throw invalid('ID cannot be a nil uuid')
  return id.toLowerCase()
}
