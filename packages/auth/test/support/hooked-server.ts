import type { TestContext } from 'node:test'
import { type FlowServer, openFlowServer } from './flow-server.ts'
import { type HookReceiver, hookSecret, openHookReceiver, type Reply } from './hook-receiver.ts'

/** The part of the variable names, by the hook name in `metadata`. */
const variables = {
  'send-sms': 'SEND_SMS',
  'send-email': 'SEND_EMAIL',
  'customize-access-token': 'CUSTOM_ACCESS_TOKEN',
  'mfa-verification': 'MFA_VERIFICATION_ATTEMPT',
  'password-verification': 'PASSWORD_VERIFICATION_ATTEMPT',
  'before-user-created': 'BEFORE_USER_CREATED',
  'after-user-created': 'AFTER_USER_CREATED',
} as const
export type HookedName = keyof typeof variables

export function toHookEnvironment(
  names: readonly HookedName[],
  uri: string,
  secret = hookSecret,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`AUTH_HOOK_${variables[name]}_ENABLED`, 'true'],
      [`AUTH_HOOK_${variables[name]}_URI`, uri],
      [`AUTH_HOOK_${variables[name]}_SECRETS`, secret],
    ]),
  )
}

export interface HookedServer extends FlowServer {
  readonly receiver: HookReceiver
  /** The payloads that a hook has received, newest last. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary fields
  payloadsOf(name: HookedName): readonly any[]
  /** Sets the response of a hook while `use` runs; by default all hooks accept. */
  withReply<Result>(
    name: HookedName,
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    reply: (body: any) => Reply,
    use: () => Promise<Result>,
  ): Promise<Result>
  /** Resolves with the first matching payload of a hook, now or later. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  waitForCall(name: HookedName, fits: (body: any) => boolean): Promise<any>
}

/** Opens a server with a receiver for its hooks. Returns undefined if PostgreSQL is missing. */
export async function openHookedServer(
  t: TestContext,
  names: readonly HookedName[],
  env: Readonly<Record<string, string>> = {},
): Promise<HookedServer | undefined> {
  const receiver = await openHookReceiver(t, { secret: hookSecret })
  const hooks = toHookEnvironment(names, receiver.url)
  const server = await openFlowServer(t, { ...hooks, ...env })
  if (!server) return undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  const replies = new Map<string, (body: any) => Reply>()
  receiver.reply = ({ body }) => {
    const { name } = body.metadata
    const reply = replies.get(name)
    if (reply !== undefined) return reply(body)
    return name === 'customize-access-token' ? { body: { claims: body.claims } } : {}
  }
  return {
    ...server,
    clock: server.clock,
    receiver,
    payloadsOf: (name) =>
      receiver.requests.map(({ body }) => body).filter(({ metadata }) => metadata.name === name),
    async withReply(name, reply, use) {
      replies.set(name, reply)
      try {
        return await use()
      } finally {
        replies.delete(name)
      }
    },
    async waitForCall(name, fits) {
      const { body } = await receiver.waitFor(
        (request) => request.body.metadata.name === name && fits(request.body),
      )
      return body
    },
  }
}

/** An `{"error": …}` response of a hook. */
export function rejection(http_code: number, message: string): Reply {
  return { body: { error: { http_code, message } } }
}
