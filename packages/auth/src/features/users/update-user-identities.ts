import { type OneTimeTokenType, oneTimeTokenTypes } from '../one-time-codes/one-time-tokens.ts'
import { toEmailIdentity, toPhoneIdentity } from './new-users.ts'
import type { UserChange } from './statements/update-user.ts'

/** A way to reach a user, from now on; the addresses and numbers of before no longer count. */
export interface Reach {
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly phone: string | undefined
  readonly isPhoneVerified: boolean
}

/** What a change of address or number brings with it. */
export function toReachChange(
  userId: string,
  { email, isEmailVerified, phone, isPhoneVerified }: Reach,
): Pick<UserChange, 'identities' | 'copied_metadata'> {
  return {
    identities: [
      ...(email === undefined ? [] : [toEmailIdentity(userId, email, {}, isEmailVerified)]),
      ...(phone === undefined ? [] : [toPhoneIdentity(userId, phone, {}, isPhoneVerified)]),
    ],
    copied_metadata: {
      ...(email !== undefined && { email, email_verified: isEmailVerified }),
      ...(phone !== undefined && { phone, phone_verified: isPhoneVerified }),
    },
  }
}

/** All but those that the same statement writes. */
export function allTokensBut(
  written: readonly { readonly token_type: string }[],
): readonly OneTimeTokenType[] {
  return oneTimeTokenTypes.filter((type) => !written.some(({ token_type }) => token_type === type))
}
