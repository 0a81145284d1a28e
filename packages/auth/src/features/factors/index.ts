import type { FactorKind } from './factor-kind.ts'
import { phone } from './phone.ts'
import { totp } from './totp.ts'
import { webauthn } from './webauthn.ts'

/** Every kind of factor that users enroll. */
const kinds: Readonly<Record<string, FactorKind>> = {
  totp,
  phone,
  webauthn,
}

export function findFactorKind(type: string): FactorKind | undefined {
  return Object.hasOwn(kinds, type) ? kinds[type] : undefined
}

/** Codes that stand in for any factor; they come in a set and are never the only one. */
export const recoveryCodeType = 'recovery_code'
export const recoveryCodeMethod = 'mfa/recovery_code'

/** By the types of factors: what the amr calls them. */
export const methodsByType: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(kinds).map(([type, { method }]) => [type, method])),
  [recoveryCodeType]: recoveryCodeMethod,
}
