import { randomUUID } from 'node:crypto'
import { ApiError, invalid } from '../../errors.ts'
import type { ExternalProfile } from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { createAuditId, toAuditPart } from '../audit/audit.ts'
import { findProvider } from '../custom-providers/find-provider.ts'
import { linkIdentity } from '../external/identities.ts'
import { takeLinkingFlow } from '../external/statements/flows.ts'
import { matchesVerifier } from '../sessions/pkce.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import { exchangeFlow, type FlowExchange, type FlowRow, findFlow } from './statements.ts'

/**
 * Counted from the time the code is issued, because the email may be opened long after the flow
 * began.
 */
const codeLifetimeMs = 300_000

export interface CodeExchange {
  readonly code: string
  readonly verifier: string
  readonly client: Client
  /** For a confirmation email, if one is needed. */
  readonly externalUrl: string
}

/** Handles the grant `pkce`. @throws {ApiError} */
export async function exchangeCode(
  services: Services,
  exchange: CodeExchange,
): Promise<TokenResponse> {
  const { db, sessions } = services
  const { code, verifier, client } = exchange
  const nowMs = services.now()
  if (code === '' || verifier === '') {
    throw invalid('invalid request: both auth code and code verifier should be non-empty')
  }
  // Every code is a UUID, and PostgreSQL would reject anything else.
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(code)) throw noFlow()
  const [flow] = await db.run(findFlow, { code })
  if (flow === undefined) throw noFlow()
  check(flow, verifier, nowMs)
  const { provider_access_token: token, provider_refresh_token: refreshToken } = flow
  const providerTokens = {
    ...(token !== null && { provider_token: token }),
    ...(refreshToken !== null && { provider_refresh_token: refreshToken }),
  }
  if (flow.linking_profile !== null) {
    const linked = await linkAndSignIn(services, flow, flow.linking_profile, exchange)
    return { ...linked, ...providerTokens }
  }
  const [row] = await db.run(exchangeFlow, toExchange(flow, client, nowMs))
  // A concurrent request used the same code.
  if (row === undefined) throw noFlow()
  const response = await sessions.toTokenResponse(row, client)
  services.signInLog.countSignIn()
  return { ...response, ...providerTokens }
}

/** Links the identity only now, because the verifier proves that the client started the flow. */
async function linkAndSignIn(
  services: Services,
  flow: FlowRow,
  profile: ExternalProfile,
  { client, externalUrl }: CodeExchange,
): Promise<TokenResponse> {
  const provider = await findProvider(services, flow.provider_type)
  const [taken] = await services.db.run(takeLinkingFlow, { flowId: flow.id })
  if (taken === undefined) throw noFlow()
  const target = { userId: flow.user_id, sessionId: flow.linking_session_id }
  const user = await linkIdentity(services, target, {
    provider,
    profile,
    client,
    externalUrl,
    audience: flow.aud,
    redirectTo: flow.referrer,
  })
  return services.sessions.open({ user, method: 'oauth', provider: provider.id, client })
}

function check(flow: FlowRow, verifier: string, nowMs: number): void {
  if (nowMs > Date.parse(flow.auth_code_issued_at) + codeLifetimeMs) {
    throw new ApiError('flow_state_expired', 'invalid flow state, flow state has expired')
  }
  const { code_challenge: challenge, code_challenge_method: method } = flow
  if (!matchesVerifier({ challenge, method }, verifier)) {
    throw new ApiError(
      'bad_code_verifier',
      'code challenge does not match previously saved code verifier',
    )
  }
  if (flow.banned_until !== null && Date.parse(flow.banned_until) > nowMs) {
    throw new ApiError('user_banned', 'User is banned')
  }
}

function toExchange(flow: FlowRow, client: Client, nowMs: number): FlowExchange {
  const { id, authentication_method: method, provider_type: provider } = flow
  return {
    now: new Date(nowMs),
    ip: client.ip,
    user_agent: client.userAgent,
    flow_id: id,
    session: {
      id: randomUUID(),
      amr: [
        {
          method,
          timestamp: Math.floor(nowMs / 1_000),
          // Clients of Supabase Auth expect the plain ID of a SAML provider.
          ...(provider !== '' && { provider: provider.replace(/^sso:/, '') }),
        },
      ],
      is_recovery: method === 'recovery',
      tag: client.tag ?? null,
    },
    audit_id: createAuditId(),
    audit: toAuditPart('login'),
  }
}

function noFlow(): ApiError {
  return new ApiError('flow_state_not_found', 'invalid flow state, no valid flow state found')
}
