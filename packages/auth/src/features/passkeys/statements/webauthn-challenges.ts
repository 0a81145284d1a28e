import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'

export type Ceremony = 'registration' | 'authentication'

/** Registrations that a user may have begun; who begins more loses the first of them. */
const mostOpen = 10

/** $1 id, $2 ceremony, $3 user or null, $4 challenge, $5 end, $6 now. */
export const addWebAuthnChallenge = statement(
  'add_webauthn_challenge',
  `with owner as materialized (
     -- Before their challenges, as the deletion of a user does.
     select id from {ns}.users where id = $3::uuid for key share
   ), outdated as (
     delete from {ns}.webauthn_challenges where (select count(*) from owner) = 1 and id in (
       select id from {ns}.webauthn_challenges where user_id = $3
       order by created_at desc, id offset ${mostOpen - 1})
   )
   insert into {ns}.webauthn_challenges (id, ceremony, user_id, challenge, expires_at, created_at)
   select $1, $2, $3, $4, $5, $6 where $3 is null or exists (select from owner)`,
)

export interface TakenChallenge extends Row {
  readonly challenge: string
  readonly expires_at: Time
}

/** A part of a `with`: deletes a challenge, so that whoever comes second finds none. */
export const takeChallenge = (ceremony: Ceremony, id: string, userId: string | null) =>
  `challenge as (
     delete from {ns}.webauthn_challenges
     where id = ${id} and ceremony = '${ceremony}'
       and user_id ${userId === null ? 'is null' : `= ${userId}`}
     returning challenge, expires_at
   )`

/** A TakenChallenge. No row: there is none, or not of this user. $1 id, $2 user. */
export const takeRegistrationChallenge = statement(
  'take_registration_challenge',
  `with ${takeChallenge('registration', '$1', '$2')} select challenge, expires_at from challenge`,
)
