import type { CallerRow } from '../features/sessions/statements/sessions.ts'
import type { LimiterName } from '../limits/request-limits.ts'
import type { CodeRecipient } from '../messages/requests/daily-codes.ts'
import type { Services } from '../services.ts'
import type { Answer, Call } from './call.ts'
import type { Schema, Static } from './schema.ts'

/**
 * The callers that an endpoint accepts. `user` requires an active session. `former user` also accepts a token
 * whose session has ended, because access tokens stay valid until they expire, but not from clients of Supabase Auth.
 */
export type Allowed = 'anyone' | 'user' | 'former user' | 'admin'

/** What callers without an access token authenticate with: programs that are registered or provision users. */
export type Credential = 'scim' | 'client' | 'registration'

type Unvalidated = Readonly<Record<string, unknown>>

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** `/admin/users/:user_id` */
  readonly path: string
  /** A one-line description for the API documentation. */
  readonly summary: string
  readonly allowed: Allowed
  /** For `anyone`: what the handler requires instead of an access token. */
  readonly credential?: Credential
  /**
   * Throws if the feature of the endpoint is disabled. Called before the body is validated, because
   * clients of Supabase Auth recognise the error of a disabled feature whatever they have sent. The
   * query has not been validated either.
   */
  readonly requires?: (services: Services, query: Unvalidated) => void
  /**
   * Whether the access token may be one that an OAuth client uses for the user. The endpoint must
   * then return and change only what the scope of the token allows.
   */
  readonly acceptsClients?: boolean
  /** Whether HEAD returns the status of GET. Otherwise HEAD has no effect and returns 200. */
  readonly answersHead?: boolean
  /** Roles that are administrators for this endpoint, in addition to AUTH_JWT_ADMIN_ROLES. */
  readonly moreRoles?: readonly string[]
  /**
   * The limit that requests are counted against first, by address. A function selects it by the
   * body and the query, which have not been validated yet.
   */
  readonly limiter?: LimiterName | ((body: Unvalidated, query: Unvalidated) => LimiterName)
  /** Which calls need a CAPTCHA token if a CAPTCHA is configured. */
  readonly captcha?: 'always' | ((query: Call['query']) => boolean)
  /** The recipients of a code or link, who have a daily limit. */
  readonly sendsCodesTo?: (call: Call<never>, services: Services) => readonly CodeRecipient[]
  readonly body?: Schema
  /** Whether the body may be an HTML form, which any web page can submit. */
  readonly takesForms?: boolean
  /**
   * For endpoints of OAuth: a parameter that occurs twice is an error, because programs differ in
   * which value they use. The errors of an `api` have the form of RFC 6749; browsers open a `page`.
   */
  readonly oauth?: 'api' | 'page'
  /** Whether errors have the form of RFC 7644. */
  readonly scim?: boolean
  /** The query parameters and their descriptions. */
  readonly query?: Readonly<Record<string, string>>
  /** The response on success. */
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

/** Connects the types of body and caller to the handler; both are validated before it is called. */
export function defineEndpoint<S extends Schema, A extends Allowed>(
  definition: Definition<S, A>,
): Endpoint {
  return definition as unknown as Endpoint
}
