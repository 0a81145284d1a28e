import { invalid } from '../../../errors.ts'
import { Type } from '../../../http/schema.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import type { CeremonyAnswer } from '../ceremony.ts'

export const ceremonyAnswer = Type.Object({
  challenge_id: Type.Optional(Type.String({ description: 'That of the options' })),
  credential: Type.Optional(
    Type.Unknown({ description: 'What navigator.credentials gave, as its toJSON() writes it' }),
  ),
})

interface Fields {
  readonly challenge_id?: string
  readonly credential?: unknown
}

/** @throws {ApiError} */
export function readCeremonyAnswer({ challenge_id: id = '', credential }: Fields): CeremonyAnswer {
  if (id === '') throw invalid('challenge_id is required')
  if (credential === undefined) throw invalid('credential is required')
  if (!uuidPattern.test(id)) throw invalid('challenge_id must be a valid UUID')
  return { challengeId: id.toLowerCase(), credential }
}
