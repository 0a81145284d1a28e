import { parsePhone } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import { noticeWeakness } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import { isStorableText } from '../../stored-json.ts'
import { notingFailure } from '../audit/sign-in-log.ts'
import { judgePassword } from '../sessions/hook-verdicts.ts'
import { guardPassword } from '../sessions/password-attempts.ts'
import type { Client } from '../sessions/sessions.ts'
import { findUserByEmail, findUserByPhone, type UserRow } from '../users/statements/user-row.ts'

/** The check is repeated if a concurrent sign-in with the same password replaces or encrypts the stored hash. */
const mostTries = 3

export interface PasswordSignIn {
  /** Empty if the phone number is given. */
  readonly email: string
  readonly phone: string
  readonly password: string
  readonly audience: string
  readonly client: Client
}

/** Handles the grant `password`. @throws {ApiError} */
export async function signInByPassword(
  services: Services,
  { email, phone, password, audience, client }: PasswordSignIn,
): Promise<object> {
  const name = readName(services, email, phone)
  const found: FoundAccount = { name: name.text, audience, userId: undefined, ip: client.ip }
  return await notingFailure(services.signInLog, found, async () => {
    for (let tries = 1; tries <= mostTries; tries++) {
      const response = await trySignIn(services, { name, password, audience, client }, found)
      if (response !== undefined) return response
    }
    throw wrongPassword()
  })
}

interface LoginName {
  readonly kind: 'email' | 'phone'
  /** In the stored format. */
  readonly text: string
}

/** @throws {ApiError} */
function readName({ config }: Services, email: string, phone: string): LoginName {
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on login.')
  }
  if (email !== '') {
    if (!config.site.emailEnabled) {
      throw new ApiError('email_provider_disabled', 'Email logins are disabled')
    }
    return { kind: 'email', text: email.toLowerCase() }
  }
  if (phone === '') throw invalid('missing email or phone')
  if (!config.site.phoneEnabled) {
    throw new ApiError('phone_provider_disabled', 'Phone logins are disabled')
  }
  return { kind: 'phone', text: parsePhone(phone) }
}

/** The data for the log of failed sign-ins. */
interface FoundAccount {
  readonly name: string
  readonly audience: string
  userId: string | undefined
  readonly ip: string
}

interface Attempt {
  readonly name: LoginName
  readonly password: string
  readonly audience: string
  readonly client: Client
}

/** Undefined when the password has changed since it was checked. @throws {ApiError} */
async function trySignIn(
  services: Services,
  { name, password, audience, client }: Attempt,
  found: FoundAccount,
): Promise<object | undefined> {
  const { passwords, sessions, now, passwordPolicy } = services
  const account = { audience, name: name.text }
  const { user, isRight, isOutdated, reencrypted } = await guardPassword(
    services,
    { account, client },
    async () => {
      const user = await findUser(services, name, audience)
      found.userId = user?.id
      return { user, ...(await passwords.check(password, user)) }
    },
  )
  if (user !== undefined) await judgePassword(services, { user, isRight, client })
  if (user === undefined || !isRight) throw wrongPassword()
  // Checked after the password, because a ban would reveal that the user exists.
  if (user.banned_until !== null && Date.parse(user.banned_until) > now()) {
    throw new ApiError('user_banned', 'User is banned', { status: 400 })
  }
  checkConfirmed(user, name)
  const newHash = isOutdated ? (await passwords.hash(password)).toStored(user.id) : reencrypted
  const shownHash = user.encrypted_password ?? undefined
  const [response, weakness] = await Promise.all([
    sessions.tryOpen({ user, method: 'password', client, newHash, shownHash }),
    noticeWeakness(password, passwordPolicy),
  ])
  return weakness && response ? { ...response, weak_password: weakness } : response
}

async function findUser(
  { db }: Services,
  { kind, text }: LoginName,
  audience: string,
): Promise<UserRow | undefined> {
  // PostgreSQL would reject such a text.
  if (!isStorableText(text)) return undefined
  const [user] =
    kind === 'email'
      ? await db.run(findUserByEmail, { email: text, audience })
      : await db.run(findUserByPhone, { phone: text, audience })
  return user
}

function checkConfirmed(user: UserRow, { kind }: LoginName): void {
  if (kind === 'email' && user.email_confirmed_at === null) {
    throw new ApiError('email_not_confirmed', 'Email not confirmed')
  }
  if (kind === 'phone' && user.phone_confirmed_at === null) {
    throw new ApiError('phone_not_confirmed', 'Phone not confirmed')
  }
}

function wrongPassword(): ApiError {
  return new ApiError('invalid_credentials', 'Invalid login credentials')
}
