import { ApiError, invalid } from '../../errors.ts'
import {
  type ExternalProfile,
  ProfileError,
  toEmails,
  toStorableProfile,
} from '../../plugins/providers/oauth/external-profile.ts'
import type {
  ExternalProvider,
  ExternalReturn,
  ExternalTokens,
} from '../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../services.ts'
import { findProvider } from '../custom-providers/find-provider.ts'
import type { Client, TokenResponse } from '../sessions/sessions.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import type { ProviderSignIn } from './account-changes.ts'
import { acceptInvitation, findOrCreateAccount } from './external-accounts.ts'
import { checkLinkable, type LinkingTarget, linkIdentity } from './identities.ts'
import { type ClaimedFlow, issueExternalCode } from './statements/flows.ts'

interface ReturnInput {
  readonly flow: ClaimedFlow
  readonly parameters: ExternalReturn['parameters']
  readonly client: Client
  readonly externalUrl: string
}

export type Returned =
  | { readonly outcome: 'code'; readonly code: string }
  /** No tokens are returned: the user already has a session, and this may be another browser. */
  | { readonly outcome: 'linked' }
  | {
      readonly outcome: 'tokens'
      readonly tokens: TokenResponse
      readonly provider: string
      /** Returned only if scopes were requested, or in the compatibility mode upstream. */
      readonly providerTokens: ExternalTokens | undefined
    }

/**
 * Completes the flow after the state has been claimed. No rows are locked during requests to the
 * provider. @throws {ApiError}
 */
export async function finishExternal(services: Services, input: ReturnInput): Promise<Returned> {
  const { flow, client, parameters } = input
  const provider = await findProvider(services, flow.provider_type)
  const back = { parameters, memo: flow.provider_memo }
  const tokens = await exchange(provider, back)
  const profile = await readProfile(provider, tokens, back)
  const target = toLinkingTarget(flow)
  if (target !== undefined && flow.code_challenge !== null) {
    // This may be any browser. The exchange of the code proves that the client holds the verifier.
    await checkLinkable(services, target, { provider, profile })
    return issueCode(services, flow, target.userId, tokens, toStorableProfile(profile))
  }
  const user = await findUser(services, { ...input, provider, profile })
  if (flow.code_challenge !== null) return issueCode(services, flow, user.id, tokens, null)
  if (flow.linking_step === 'agreed') return { outcome: 'linked' }
  return {
    outcome: 'tokens',
    tokens: await services.sessions.open({ user, method: 'oauth', provider: provider.id, client }),
    provider: provider.id,
    providerTokens: flow.asks_scopes ? tokens : undefined,
  }
}

async function exchange(provider: ExternalProvider, back: ExternalReturn): Promise<ExternalTokens> {
  const code = back.parameters['code'] ?? back.parameters['oauth_verifier'] ?? ''
  if (code === '') {
    const message = 'OAuth callback with missing authorization code missing'
    throw new ApiError('bad_oauth_callback', message)
  }
  try {
    return await provider.exchange(back)
  } catch (cause) {
    const message = `Unable to exchange external code: ${code.slice(0, 4)}`
    throw new ApiError('unexpected_failure', message, { cause })
  }
}

async function readProfile(
  provider: ExternalProvider,
  tokens: ExternalTokens,
  back: ExternalReturn,
): Promise<ExternalProfile> {
  try {
    const profile = await provider.readProfile(tokens, back)
    return { ...profile, emails: toEmails(profile.emails) }
  } catch (cause) {
    const message = 'Error getting user profile from external provider'
    if (cause instanceof ProfileError) throw invalid(`${message}: ${cause.message}`, { cause })
    throw new ApiError('unexpected_failure', message, { cause })
  }
}

function findUser(
  services: Services,
  {
    flow,
    provider,
    profile,
    client,
    externalUrl,
  }: ReturnInput & Pick<ProviderSignIn, 'provider' | 'profile'>,
): Promise<UserRow> {
  const signIn: ProviderSignIn = {
    provider,
    profile,
    client,
    externalUrl,
    audience: flow.aud,
    redirectTo: flow.referrer,
  }
  const target = toLinkingTarget(flow)
  if (target !== undefined) return linkIdentity(services, target, signIn)
  if (profile.emails.length === 0 && !provider.isEmailOptional) throw noEmail()
  if (flow.invite_token_hash !== null) {
    return acceptInvitation(services, flow.invite_token_hash, signIn)
  }
  return findOrCreateAccount(services, signIn)
}

function toLinkingTarget(flow: ClaimedFlow): LinkingTarget | undefined {
  const { linking_target_id: userId, linking_session_id: sessionId } = flow
  return userId === null ? undefined : { userId, sessionId }
}

export function noEmail(): ApiError {
  const message = 'Error getting user email from external provider'
  return new ApiError('unexpected_failure', message)
}

async function issueCode(
  { db, now }: Services,
  flow: ClaimedFlow,
  userId: string,
  { accessToken, refreshToken }: ExternalTokens,
  linkingProfile: ExternalProfile | null,
): Promise<Returned> {
  const [issued] = await db.run(issueExternalCode, {
    flowId: flow.id,
    userId,
    accessToken,
    refreshToken: refreshToken ?? null,
    now: new Date(now()),
    linkingProfile,
  })
  if (issued === undefined) {
    throw new ApiError('flow_state_already_used', 'State has already been used')
  }
  return { outcome: 'code', code: issued.auth_code }
}
