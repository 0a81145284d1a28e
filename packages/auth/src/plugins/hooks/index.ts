import { afterUserCreated } from './after-user-created.ts'
import { beforeUserCreated } from './before-user-created.ts'
import { customAccessToken } from './custom-access-token.ts'
import type { HookCall, HookDefinition } from './hook.ts'
import { mfaVerificationAttempt } from './mfa-verification-attempt.ts'
import { passwordVerificationAttempt } from './password-verification-attempt.ts'
import { sendEmail } from './send-email.ts'
import { sendSms } from './send-sms.ts'

/** All hooks that operators can configure. */
export const hookDefinitions = {
  sendSms,
  sendEmail,
  customAccessToken,
  mfaVerificationAttempt,
  passwordVerificationAttempt,
  beforeUserCreated,
  afterUserCreated,
}

export type HookName = keyof typeof hookDefinitions

/** The hooks of this installation. A disabled hook is undefined. */
export type Hooks = {
  readonly [Name in HookName]: (typeof hookDefinitions)[Name] extends HookDefinition<
    infer Input,
    infer Output
  >
    ? HookCall<Input, Output> | undefined
    : never
}

export const hookNames = Object.keys(hookDefinitions).filter((name): name is HookName =>
  Object.hasOwn(hookDefinitions, name),
)
