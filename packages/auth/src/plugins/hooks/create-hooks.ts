import type { Log } from '@portcullis/service-kit/log'
import type { HookName, HooksConfig } from '../../config/hooks.ts'
import type { Database } from '../../db/database.ts'
import { createHookCall, type HookDefinition } from './hook.ts'
import type { HookCall, Hooks } from './hooks.ts'
import { createHttpTransport, type HttpTransportParts } from './http-transport.ts'
import { hookDefinitions } from './index.ts'
import { createPostgresTransport } from './postgres-transport.ts'

export interface HooksParts {
  readonly config: HooksConfig
  readonly db: Pick<Database, 'transaction'>
  readonly now: () => number
  readonly log: Pick<Log, 'warning'>
  readonly http?: Pick<HttpTransportParts, 'limits' | 'resolve' | 'ca'>
  readonly functionTimeoutMs?: number
}

/** Nothing is made for a hook that is off. */
export function createHooks(parts: HooksParts): Hooks {
  const { config, db, now, log, http, functionTimeoutMs } = parts
  const open = <Input extends object, Output>(
    name: HookName,
    definition: HookDefinition<Input, Output>,
  ): HookCall<Input, Output> | undefined => {
    const hook = config[name]
    if (hook === undefined) return undefined
    const { target, secrets } = hook
    const transport =
      target.kind === 'http'
        ? createHttpTransport({ target, secrets, now, ...http })
        : createPostgresTransport({
            target,
            name: definition.name,
            db,
            ...(functionTimeoutMs !== undefined && { timeoutMs: functionTimeoutMs }),
          })
    return createHookCall(definition, { transport, now, log })
  }
  return {
    sendSms: open('sendSms', hookDefinitions.sendSms),
    sendEmail: open('sendEmail', hookDefinitions.sendEmail),
    customAccessToken: open('customAccessToken', hookDefinitions.customAccessToken),
    mfaVerificationAttempt: open('mfaVerificationAttempt', hookDefinitions.mfaVerificationAttempt),
    passwordVerificationAttempt: open(
      'passwordVerificationAttempt',
      hookDefinitions.passwordVerificationAttempt,
    ),
    beforeUserCreated: open('beforeUserCreated', hookDefinitions.beforeUserCreated),
    afterUserCreated: open('afterUserCreated', hookDefinitions.afterUserCreated),
  }
}
