import type { Log } from '@portcullis/service-kit/log/log'
import type { Database } from '../../db/database.ts'
import { createHookCall, type HookCall, type HookDefinition } from './hook.ts'
import { createHttpTransport, type HttpTransportParts } from './http-transport.ts'
import { type HookName, type Hooks, hookDefinitions, hookNames } from './index.ts'
import { createPostgresTransport } from './postgres-transport.ts'
import type { HooksConfig } from './settings.ts'

export interface HooksParts {
  readonly config: HooksConfig
  readonly db: Pick<Database, 'transaction'>
  readonly now: () => number
  readonly log: Pick<Log, 'warning'>
  readonly http?: Pick<HttpTransportParts, 'limits' | 'resolve' | 'ca'>
  readonly functionTimeoutMs?: number
}

/** Creates nothing for disabled hooks. */
export function createHooks(parts: HooksParts): Hooks {
  const { config, db, now, log, http, functionTimeoutMs } = parts
  const open = (name: HookName): HookCall<never, unknown> | undefined => {
    const definition: HookDefinition<never, unknown> = hookDefinitions[name]
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
  // The cast is needed because a loop loses the relation between a definition and its call.
  return Object.fromEntries(hookNames.map((name) => [name, open(name)])) as Hooks
}
