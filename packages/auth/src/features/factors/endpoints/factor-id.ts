import { invalid } from '../../../errors.ts'
import { uuidPattern } from '../../sessions/bearer.ts'

/** The factor in the path. @throws {ApiError} */
export function readFactorId(params: Readonly<Record<string, string>>): string {
  const id = params['factor_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('factor_id must be an UUID', { status: 404 })
}
