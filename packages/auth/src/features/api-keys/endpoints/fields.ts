import { ApiError } from '../../../errors.ts'
import { Type } from '../../../http/schema.ts'
import { uuidPattern } from '../../sessions/bearer.ts'

export const keyFields = {
  name: Type.Optional(Type.String({ description: '1 to 120 characters' })),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'What the key allows' })),
  expires_at: Type.Optional(
    Type.Union([Type.String({ description: 'A future time. Default: never' }), Type.Null()]),
  ),
}

export const rotation = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Unknown({
      description:
        'How long the previous secret stays valid. Default: 0, which also revokes its tokens',
    }),
  ),
})

export const secretOnce = 'Only this response has its text, api_key'

/** @throws {ApiError} */
export function readKeyId(params: Readonly<Record<string, string>>): string {
  const id = params['key_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw new ApiError('api_key_not_found', 'API key not found')
}

/** A value that is not a number is refused by the rule. */
export function readOverlap({
  overlap_seconds: seconds = 0,
}: {
  overlap_seconds?: unknown
}): number {
  return typeof seconds === 'number' ? seconds : Number.NaN
}
