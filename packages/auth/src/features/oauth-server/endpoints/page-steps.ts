import { parseEmail } from '../../../addresses.ts'
import { toBuiltInUrl } from '../../../config/oauth-server.ts'
import { ApiError, invalid } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { type Static, Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { findProvider } from '../../custom-providers/find-provider.ts'
import { createCookie } from '../../external/endpoints/authorize.ts'
import { startExternal } from '../../external/external-sign-in.ts'
import { verifyEmail } from '../../one-time-codes/verify.ts'
import { finishPasskeySignIn, startPasskeySignIn } from '../../passkeys/sign-in.ts'
import { withQuery } from '../../redirects/redirect-location.ts'
import { readSessionId, readToken, uuidPattern } from '../../sessions/bearer.ts'
import { exchangeCode } from '../../sign-in/code-exchange.ts'
import { checkMagicLinkAllowed, requestMagicLink } from '../../sign-in/magic-link.ts'
import { signInByPassword } from '../../sign-in/password-sign-in.ts'
import { decideAuthorization, getPending, refuse } from '../authorizations.ts'
import {
  createSessionCookie,
  dropSessionCookie,
  findProviderFlow,
  findVisitor,
} from '../pages/browser-session.ts'
import type { Page } from '../pages/layout.ts'
import { toEmailCodePage, toPasskeyPage, toPhoneCodePage } from '../pages/sign-in-pages.ts'
import { leave, listOfferedFactors, proveFactor, startFactor } from '../pages/visits.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

export const pageBody = Type.Object({
  step: text('The button: sign-in, send-code, passkey-start, factor, approve, deny and others'),
  email: text('For sign-in, send-code and email-code'),
  password: text('For sign-in'),
  provider: text('For provider'),
  factor_id: text('For factor and factor-start'),
  challenge_id: text('For factor and passkey'),
  code: text('The code from an email, an app or a text message'),
  credential: text('For factor and passkey: the answer of navigator.credentials, as JSON'),
})

export type PageCall = Call<Static<typeof pageBody>>

interface Step {
  run(call: PageCall, services: Services): Promise<Answer>
  /** The page after an error that the user can correct. Default: the page before the step. */
  retry?(call: PageCall, services: Services, alert: string): Promise<Page | undefined>
}

const steps: Readonly<Record<string, Step>> = {
  'sign-in': {
    async run(call, services) {
      const { email = '', password = '' } = call.body
      const { audience, client } = call
      const input = { email, password, audience, client, phone: '' }
      return signedIn(call, services, await signInByPassword(services, input))
    },
  },

  'send-code': {
    async run(call, services) {
      checkMagicLinkAllowed(services)
      const email = parseEmail(call.body.email)
      const { audience, client, externalUrl } = call
      await requestMagicLink(services, {
        ...{ email, audience, client, externalUrl },
        data: {},
        challenge: undefined,
        redirectTo: services.redirects.siteUrl,
        newcomer: 'ignore',
        firstMail: 'magicLink',
      })
      return toAnswer(toEmailCodePage(services, email, undefined))
    },
  },

  'email-code': {
    async run(call, services) {
      const { audience, client } = call
      const recipient = parseEmail(call.body.email)
      const verified = await verifyEmail(services, {
        type: 'email',
        proof: { how: 'digits', digits: (call.body.code ?? '').trim(), recipient, audience },
        wantsCode: false,
        requiresPassword: false,
        password: undefined,
        client,
      })
      if (verified.outcome !== 'tokens') return backToPage(call, services)
      return signedIn(call, services, verified.tokens)
    },
    retry: async ({ body }, services, alert) => toEmailCodePage(services, body.email ?? '', alert),
  },

  'passkey-start': {
    async run(_call, services) {
      const { challenge_id: id, options } = await startPasskeySignIn(services)
      return toAnswer(toPasskeyPage(services, { step: 'passkey', challengeId: `${id}`, options }))
    },
  },

  passkey: {
    async run(call, services) {
      const { challenge_id: challengeId = '' } = call.body
      if (!uuidPattern.test(challengeId)) throw invalid('challenge_id must be a valid UUID')
      const answer = { challengeId: challengeId.toLowerCase(), credential: parseCredential(call) }
      return signedIn(call, services, await finishPasskeySignIn(services, answer, call.client))
    },
  },

  provider: {
    async run(call, services) {
      const flow = findProviderFlow(services, call.header('cookie'), readId(call))
      if (flow === undefined) return backToPage(call, services)
      const provider = await findProvider(services, call.body.provider ?? '')
      const { url, state, browserSecret } = await startExternal(services, {
        provider,
        scopes: [],
        parameters: {},
        challenge: flow.challenge,
        redirectTo: toPageUrl(call, services),
        audience: call.audience,
        inviteToken: undefined,
        linking: undefined,
        isByScript: false,
      })
      const response = redirect(url)
      if (browserSecret === undefined) return response
      const cookie = createCookie(services, provider, state, browserSecret)
      return withCookie(response, cookie)
    },
  },

  'factor-start': {
    async run(call, services) {
      const person = await findVisitor(services, call.header('cookie'))
      const factor = person && findFactor(services, person, call)
      if (person === undefined || factor === undefined) return backToPage(call, services)
      const started = await startFactor(services, person, factor.id, call.client)
      const challengeId = `${started['id']}`
      if (factor.type !== 'webauthn') {
        return toAnswer(toPhoneCodePage(services, factor, challengeId, undefined))
      }
      const { publicKey } = Object(Object(started['webauthn']).credential_options)
      return toAnswer(
        toPasskeyPage(services, {
          step: 'factor',
          challengeId,
          options: publicKey,
          fields: { factor_id: factor.id },
        }),
      )
    },
  },

  factor: {
    async run(call, services) {
      const { factor_id: factorId = '', challenge_id: challengeId = '', code = '' } = call.body
      const person = await findVisitor(services, call.header('cookie'))
      if (person !== undefined) {
        const credential = call.body.credential ? parseCredential(call) : undefined
        const given = { factorId, challengeId, code, credential }
        await proveFactor(services, person, given, call.client)
      }
      return backToPage(call, services)
    },
    async retry(call, services, alert) {
      const { challenge_id: challengeId = '' } = call.body
      const person = await findVisitor(services, call.header('cookie'))
      const factor = person && findFactor(services, person, call)
      if (factor?.type !== 'phone') return undefined
      return toPhoneCodePage(services, factor, challengeId, alert)
    },
  },

  back: { run: async (call, services) => backToPage(call, services) },

  approve: { run: (call, services) => decide(call, services, true) },

  deny: {
    async run(call, services) {
      const person = await findVisitor(services, call.header('cookie'))
      if (person !== undefined) return await decide(call, services, false)
      const request = await getPending(services, readId(call))
      return redirect(await refuse(services, request, 'access_denied', 'User denied the request'))
    },
  },

  'sign-out': {
    async run(call, services) {
      const person = await findVisitor(services, call.header('cookie'))
      if (person !== undefined) await leave(services, person, call.client.ip)
      return backToPage(call, services, dropSessionCookie(services))
    },
  },
}

/** @throws {ApiError} */
export function findStep({ body }: PageCall): Step {
  const { step = '' } = body
  const found = Object.hasOwn(steps, step) ? steps[step] : undefined
  if (found !== undefined) return found
  throw new ApiError('validation_failed', 'The form has no such step')
}

/** Handles the return from a provider, with the code of a PKCE flow. @throws {ApiError} */
export async function finishProvider(call: Call, services: Services): Promise<Answer> {
  const { code = '' } = call.query
  const flow = findProviderFlow(services, call.header('cookie'), readId(call))
  if (flow === undefined) {
    throw new ApiError('bad_oauth_state', 'The sign-in was started in another browser')
  }
  const { client, externalUrl } = call
  const exchange = { code, verifier: flow.verifier, client, externalUrl }
  return signedIn(call, services, await exchangeCode(services, exchange))
}

function findFactor(
  services: Services,
  person: Parameters<typeof listOfferedFactors>[1],
  { body }: PageCall,
) {
  return listOfferedFactors(services, person).find(({ id }) => id === body.factor_id)
}

/** @throws {ApiError} */
function parseCredential({ body }: PageCall): unknown {
  try {
    return JSON.parse(body.credential ?? '')
  } catch {
    throw invalid('credential must be JSON')
  }
}

/** Opens the session of the page. The tokens themselves are not used. */
function signedIn(call: Call<unknown>, services: Services, tokens: object): Answer {
  const { access_token: accessToken } = Object(tokens)
  const claims = readToken(`${accessToken}`, services.signer, services.now())
  const cookie = createSessionCookie(services, `${claims['sub']}`, readSessionId(claims) ?? '')
  return backToPage(call, services, cookie)
}

async function decide(call: PageCall, services: Services, isApproved: boolean): Promise<Answer> {
  const person = await findVisitor(services, call.header('cookie'))
  if (person === undefined) return backToPage(call, services)
  const decider = { person, ip: call.client.ip }
  return redirect(await decideAuthorization(services, readId(call), decider, isApproved))
}

/** A redirect, so that reloading the page does not send the form again. */
function backToPage(call: Call<unknown>, services: Services, cookie?: string): Answer {
  const response = redirect(toPageUrl(call, services))
  return cookie === undefined ? response : withCookie(response, cookie)
}

function withCookie(response: Answer, cookie: string): Answer {
  return { ...response, headers: { ...response.headers, 'set-cookie': cookie } }
}

function toPageUrl(call: Call<unknown>, services: Services): string {
  return withQuery(toBuiltInUrl(services.config), { authorization_id: readId(call) })
}

export function readId({ query }: Pick<Call, 'query'>): string {
  return query['authorization_id'] ?? ''
}

export function toAnswer(page: Page, alert?: string): Answer {
  return { status: alert === undefined ? 200 : 400, html: page.html, headers: page.headers }
}
