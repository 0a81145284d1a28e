import type { FactorKind } from './factor-kind.ts'
import { phone } from './phone.ts'
import { totp } from './totp.ts'
import { webauthn } from './webauthn.ts'

/** The kinds of second factor that users can enroll, by `factor_type`. */
export const factorKinds = { totp, phone, webauthn } satisfies Record<string, FactorKind>

export type FactorKindName = keyof typeof factorKinds

export const factorKindNames = Object.keys(factorKinds).filter(isFactorKindName)

export function isFactorKindName(text: string): text is FactorKindName {
  return Object.hasOwn(factorKinds, text)
}
