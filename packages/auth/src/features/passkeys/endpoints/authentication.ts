import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { finishPasskeySignIn, startPasskeySignIn } from '../sign-in.ts'
import { ceremonyAnswer, readCeremonyAnswer } from './ceremony-answer.ts'

export const passkeyAuthenticationOptions = defineEndpoint({
  method: 'POST',
  path: '/passkeys/authentication/options',
  summary: 'What a browser needs to sign somebody in with a passkey',
  allowed: 'anyone',
  limiter: 'passkey',
  captcha: 'always',
  success: { status: 200, description: 'Options for navigator.credentials.get, and their end' },
  async handle(_call, services) {
    return json(await startPasskeySignIn(services))
  },
})

export const passkeyAuthenticationVerify = defineEndpoint({
  method: 'POST',
  path: '/passkeys/authentication/verify',
  summary: 'Signs in with what a passkey has signed',
  allowed: 'anyone',
  body: ceremonyAnswer,
  success: { status: 200, description: 'A token response' },
  async handle({ body, client }, services) {
    return json(await finishPasskeySignIn(services, readCeremonyAnswer(body), client))
  },
})
