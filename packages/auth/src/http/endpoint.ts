import type { CallerRow } from '../features/sessions/statements/sessions.ts'
import type { LimiterName } from '../limits/request-limits.ts'
import type { CodeRecipient } from '../messages/requests/daily-codes.ts'
import type { Services } from '../services.ts'
import type { Answer, Call } from './call.ts'
import type { Schema, Static } from './schema.ts'

/**
 * Who may call. `user` needs a session that has not ended; `former user` takes the token of an ended
 * one as well, which stays valid until it expires (D13).
 */
export type Allowed = 'anyone' | 'user' | 'former user' | 'admin'

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/admin/users/:user_id` */
  readonly path: string
  /** One line, for the description of the API. */
  readonly summary: string
  readonly allowed: Allowed
  /** Whether HEAD is answered with the status of GET. Elsewhere it does nothing and says 200. */
  readonly answersHead?: boolean
  /** Roles that count as administrators here, beside AUTH_JWT_ADMIN_ROLES. */
  readonly moreRoles?: readonly string[]
  /** Counts by address before anything else is done; a function chooses by the body, which is not checked yet. */
  readonly limiter?: LimiterName | ((body: Readonly<Record<string, unknown>>) => LimiterName)
  /** Which calls need a token of the CAPTCHA, where there is one (reference 1.7). */
  readonly captcha?: 'always' | ((query: Call['query']) => boolean)
  /** Whom it sends a code or a link: each may be sent so many a day. */
  readonly sendsCodesTo?: (call: Call<never>, services: Services) => readonly CodeRecipient[]
  readonly body?: Schema
  /** Whether the body may be a form, which any page can post. */
  readonly takesForms?: boolean
  /** Names and meanings of the query's parameters. */
  readonly query?: Readonly<Record<string, string>>
  /** What it answers when all is well. */
  readonly success: { readonly status: number; readonly description: string }
  handle(call: Call<never>, services: Services): Promise<Answer>
}

type Caller<A extends Allowed> = A extends 'user' | 'former user'
  ? { readonly caller: CallerRow }
  : A extends 'admin'
    ? { readonly adminRole: string }
    : unknown

interface Definition<S extends Schema, A extends Allowed>
  extends Omit<Endpoint, 'handle' | 'body' | 'allowed' | 'sendsCodesTo'> {
  readonly allowed: A
  readonly body?: S
  readonly sendsCodesTo?: (
    call: Call<Static<S>> & Caller<A>,
    services: Services,
  ) => readonly CodeRecipient[]
  handle(call: Call<Static<S>> & Caller<A>, services: Services): Promise<Answer>
}

/** Ties the types of body and caller to the handler; the router has checked them by then. */
export function defineEndpoint<S extends Schema, A extends Allowed>(
  definition: Definition<S, A>,
): Endpoint {
  return definition as unknown as Endpoint
}
