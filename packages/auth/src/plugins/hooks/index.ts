import type { HookName } from '../../config/hooks.ts'
import { customAccessToken } from './custom-access-token.ts'
import type { HookDefinition } from './hook.ts'
import type {
  EmailToSend,
  FactorAttempt,
  HookCall,
  Hooks,
  NewUserNotice,
  PasswordAttempt,
  SmsToSend,
  Verdict,
} from './hooks.ts'
import { parseVerdict } from './verdict.ts'

/** The hooks there are: another one is a line here, and its variables in `config/hooks.ts`. */
export const hookDefinitions = {
  sendSms: tell<SmsToSend>('send-sms'),
  sendEmail: tell<EmailToSend>('send-email'),
  customAccessToken,
  mfaVerificationAttempt: decide<FactorAttempt>('mfa-verification'),
  passwordVerificationAttempt: decide<PasswordAttempt>('password-verification'),
  beforeUserCreated: tell<NewUserNotice>('before-user-created'),
  afterUserCreated: tell<NewUserNotice>('after-user-created'),
} satisfies Definitions

/** Each as the core wants it. */
type Definitions = {
  readonly [Name in HookName]: NonNullable<Hooks[Name]> extends HookCall<infer Input, infer Output>
    ? HookDefinition<Input, Output>
    : never
}

/** Nothing of the answer is used, but whether it is a rejection. */
function tell<Input extends object>(name: string): HookDefinition<Input, void> {
  return { name, parseAnswer: () => undefined }
}

function decide<Input extends object>(name: string): HookDefinition<Input, Verdict> {
  return { name, parseAnswer: parseVerdict }
}
