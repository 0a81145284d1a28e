import { invalid } from '../../errors.ts'
import { json, noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { checkText } from '../../stored-json.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import type { CeremonyAnswer } from './ceremony.ts'
import {
  findOwnPasskeys,
  passkeyNotFound,
  removeOwnPasskey,
  renameOwnPasskey,
  toPasskeyRecord,
} from './management.ts'
import { finishRegistration, startRegistration } from './registration.ts'
import { finishPasskeySignIn, startPasskeySignIn } from './sign-in.ts'

const ceremonyAnswer = Type.Object({
  challenge_id: Type.Optional(Type.String({ description: 'challenge_id from the options' })),
  credential: Type.Optional(
    Type.Unknown({
      description: 'The result of navigator.credentials, serialised by its toJSON()',
    }),
  ),
})

export const passkeyRegistrationOptions = defineEndpoint({
  method: 'POST',
  path: '/passkeys/registration/options',
  summary: 'Returns the options to create a passkey for the signed-in user',
  allowed: 'user',
  success: {
    status: 200,
    description: 'Options for navigator.credentials.create, with their expiry',
  },
  async handle({ caller }, services) {
    return json(await startRegistration(services, caller))
  },
})

export const passkeyRegistrationVerify = defineEndpoint({
  method: 'POST',
  path: '/passkeys/registration/verify',
  summary: 'Registers the passkey that the browser created',
  allowed: 'user',
  body: ceremonyAnswer,
  success: { status: 200, description: 'ID, name and creation time of the passkey' },
  async handle({ body, caller, client }, services) {
    const answer = readCeremonyAnswer(body)
    return json(toPasskeyRecord(await finishRegistration(services, caller, answer, client)))
  },
})

export const passkeyAuthenticationOptions = defineEndpoint({
  method: 'POST',
  path: '/passkeys/authentication/options',
  summary: 'Returns the options to sign in with a passkey',
  allowed: 'anyone',
  limiter: 'passkey',
  captcha: 'always',
  success: { status: 200, description: 'Options for navigator.credentials.get, with their expiry' },
  async handle(_call, services) {
    return json(await startPasskeySignIn(services))
  },
})

export const passkeyAuthenticationVerify = defineEndpoint({
  method: 'POST',
  path: '/passkeys/authentication/verify',
  summary: 'Signs in with a passkey',
  allowed: 'anyone',
  body: ceremonyAnswer,
  success: { status: 200, description: 'A token response' },
  async handle({ body, client }, services) {
    return json(await finishPasskeySignIn(services, readCeremonyAnswer(body), client))
  },
})

const longestName = 120

export const listOwnPasskeys = defineEndpoint({
  method: 'GET',
  path: '/passkeys',
  summary: 'Lists the passkeys of the signed-in user',
  allowed: 'user',
  success: { status: 200, description: 'An array of passkeys, oldest first' },
  async handle({ caller }, services) {
    return json((await findOwnPasskeys(services, caller)).map(toPasskeyRecord))
  },
})

export const updateOwnPasskey = defineEndpoint({
  method: 'PATCH',
  path: '/passkeys/:passkey_id',
  summary: 'Renames a passkey',
  allowed: 'user',
  body: Type.Object({
    friendly_name: Type.Optional(Type.String({ description: `1 to ${longestName} characters` })),
  }),
  success: { status: 200, description: 'The passkey' },
  async handle({ body, params, caller, client }, services) {
    const passkeyId = readPasskeyId(params)
    const friendlyName = parseName(body.friendly_name)
    const request = { person: caller, passkeyId, friendlyName, ip: client.ip }
    return json(toPasskeyRecord(await renameOwnPasskey(services, request)))
  },
})

export const deleteOwnPasskey = defineEndpoint({
  method: 'DELETE',
  path: '/passkeys/:passkey_id',
  summary: 'Removes a passkey, which can no longer be used to sign in',
  allowed: 'user',
  success: { status: 204, description: 'The passkey was removed' },
  async handle({ params, caller, client }, services) {
    const passkeyId = readPasskeyId(params)
    await removeOwnPasskey(services, { person: caller, passkeyId, ip: client.ip })
    return noContent
  },
})

/** @throws {ApiError} */
function parseName(text = ''): string {
  const name = text.trim()
  if (name === '') throw invalid('friendly_name is required')
  if ([...name].length > longestName) {
    throw invalid(`friendly_name must be ${longestName} characters or less`)
  }
  checkText('friendly_name', name)
  return name
}

interface Fields {
  readonly challenge_id?: string
  readonly credential?: unknown
}

/** @throws {ApiError} */
function readCeremonyAnswer({ challenge_id: id = '', credential }: Fields): CeremonyAnswer {
  if (id === '') throw invalid('challenge_id is required')
  if (credential === undefined) throw invalid('credential is required')
  if (!uuidPattern.test(id)) throw invalid('challenge_id must be a valid UUID')
  return { challengeId: id.toLowerCase(), credential }
}

/** Reads the passkey ID from the path. @throws {ApiError} */
export function readPasskeyId(params: Readonly<Record<string, string>>): string {
  const id = params['passkey_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw passkeyNotFound()
}
