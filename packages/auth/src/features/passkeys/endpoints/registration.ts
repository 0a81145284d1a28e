import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { toPasskeyRecord } from '../management.ts'
import { finishRegistration, startRegistration } from '../registration.ts'
import { ceremonyAnswer, readCeremonyAnswer } from './ceremony-answer.ts'

export const passkeyRegistrationOptions = defineEndpoint({
  method: 'POST',
  path: '/passkeys/registration/options',
  summary: 'What a browser needs to make a passkey for the user who asks',
  allowed: 'user',
  success: { status: 200, description: 'Options for navigator.credentials.create, and their end' },
  async handle({ caller }, services) {
    return json(await startRegistration(services, caller))
  },
})

export const passkeyRegistrationVerify = defineEndpoint({
  method: 'POST',
  path: '/passkeys/registration/verify',
  summary: 'Adds the passkey that a browser has made',
  allowed: 'user',
  body: ceremonyAnswer,
  success: { status: 200, description: 'Id, name and time of the passkey' },
  async handle({ body, caller, client }, services) {
    const answer = readCeremonyAnswer(body)
    return json(toPasskeyRecord(await finishRegistration(services, caller, answer, client)))
  },
})
