import { type Call, json } from '../../../http/call.ts'
import type { Services } from '../../../services.ts'
import { signInByIdToken } from '../../external/id-token-sign-in.ts'
import { checkManualLinking, type LinkingTarget, requireLinker } from '../../external/identities.ts'
import { findRedirectTarget } from '../../redirects/redirect-target.ts'
import { findUserOfClaims, readBearer } from '../../sessions/bearer.ts'
import type { Grant, GrantBody } from './grant.ts'

export const idTokenGrant: Grant = async (call, services) => {
  const { body, audience, client, externalUrl } = call
  const linking = body.link_identity ? await findTarget(call, services) : undefined
  return json(
    await signInByIdToken(services, {
      idToken: body.id_token ?? '',
      provider: body.provider ?? '',
      clientId: body.client_id ?? '',
      issuer: body.issuer ?? '',
      nonce: body.nonce ?? '',
      accessToken: body.access_token ?? '',
      linking,
      audience,
      client,
      redirectTo: findRedirectTarget(call, services.redirects),
      externalUrl,
    }),
  )
}

/** Only to link does this grant need a user: who signs in has none yet. */
async function findTarget(call: Call<GrantBody>, services: Services): Promise<LinkingTarget> {
  checkManualLinking(services)
  const claims = readBearer(call.header('authorization'), services.signer, services.now())
  const user = await findUserOfClaims(claims, services, false)
  requireLinker(services, user)
  return { userId: user.id, sessionId: user.session_id }
}
