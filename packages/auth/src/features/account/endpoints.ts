import { parseEmail, parsePhone } from '../../addresses.ts'
import { invalid } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/daily-codes.ts'
import { createMessageId, toMessageBody } from '../../messages/requests/message-id.ts'
import { parseTextChannel } from '../../messages/requests/phone-gateway.ts'
import { toMetadata } from '../../stored-json.ts'
import { findRedirectTarget } from '../redirects/redirect-location.ts'
import { parseChallenge } from '../sessions/pkce.ts'
import { parseOwnChange } from '../users/metadata.ts'
import { toRecordForClient, toUserRecord } from '../users/user-record.ts'
import { requestReauthentication } from './reauthentication.ts'
import { updateSelf } from './update-own-user.ts'

export const getUser = defineEndpoint({
  method: 'GET',
  path: '/user',
  summary: 'Returns the signed-in user',
  allowed: 'former user',
  acceptsClients: true,
  success: {
    status: 200,
    description: 'The user record. An OAuth client gets the fields that its scope includes',
  },
  async handle({ caller, audience }) {
    if (caller.aud !== audience) throw invalid("Token audience doesn't match request audience")
    const { oauth_grant: grant } = caller
    return json(grant === null ? toUserRecord(caller) : toRecordForClient(caller, grant))
  },
})

const metadata = Type.Record(Type.String(), Type.Unknown())

export const putUser = defineEndpoint({
  method: 'PUT',
  path: '/user',
  summary: 'Updates the signed-in user',
  allowed: 'user',
  limiter: 'user',
  query: { redirect_to: 'URL to which the link in the email redirects' },
  body: Type.Object({
    email: Type.Optional(
      Type.String({ description: 'New email address, which must be confirmed' }),
    ),
    phone: Type.Optional(
      Type.String({ description: 'New phone number (E.164), which must be confirmed' }),
    ),
    channel: Type.Optional(
      Type.String({ description: 'How the code for a new phone number is sent: sms or whatsapp' }),
    ),
    password: Type.Optional(
      Type.String({ description: 'New password. Ends all other sessions of the user' }),
    ),
    current_password: Type.Optional(Type.String()),
    nonce: Type.Optional(Type.String({ description: 'The code sent by GET /reauthenticate' })),
    data: Type.Optional(metadata),
    app_metadata: Type.Optional(metadata),
    code_challenge: Type.Optional(Type.String()),
    code_challenge_method: Type.Optional(Type.String()),
  }),
  sendsCodesTo({ body, caller }, { config: { mail, sms } }) {
    const { email = '', phone = '' } = body
    const isNewEmail = email !== '' && email.toLowerCase() !== caller.email
    const isMailed = isNewEmail && !(caller.is_anonymous && mail.autoconfirm)
    const isTexted = phone !== '' && !sms.autoconfirm
    const asksBoth = isMailed && mail.secureEmailChange && !mail.autoconfirm
    return [
      ...readRecipients({ email: isMailed ? email : '', phone: isTexted ? phone : '' }),
      ...readRecipients({ email: asksBoth ? (caller.email ?? '') : '' }),
    ]
  },
  success: { status: 200, description: 'The user record' },
  async handle(call, services) {
    const { body, caller, client, externalUrl } = call
    const { email = '', phone = '', password, data, app_metadata: appMetadata } = body
    return json(
      await updateSelf(services, {
        user: caller,
        email: email === '' ? undefined : parseEmail(email),
        phone: phone === '' ? undefined : parsePhone(phone),
        channel: parseTextChannel(services, phone === '' ? undefined : body.channel),
        password,
        currentPassword: body.current_password || undefined,
        nonce: body.nonce || undefined,
        data: data && parseOwnChange(data),
        appMetadata: appMetadata && toMetadata(appMetadata),
        challenge: parseChallenge(body.code_challenge, body.code_challenge_method),
        client,
        redirectTo: findRedirectTarget(call, services.redirects),
        externalUrl,
      }),
    )
  },
})

export const reauthenticate = defineEndpoint({
  method: 'GET',
  path: '/reauthenticate',
  summary: 'Sends the signed-in user a code that may be required to change the password',
  allowed: 'user',
  sendsCodesTo: ({ caller }) =>
    readRecipients(caller.email === null ? { phone: caller.phone ?? '' } : { email: caller.email }),
  success: { status: 200, description: 'An empty object' },
  async handle({ caller, client, externalUrl, isSdk }, services) {
    const { email, phone } = caller
    const isTexted = email === null && phone !== null
    const messageId = isSdk && isTexted ? createMessageId(services, phone) : undefined
    await requestReauthentication(services, { user: caller, client, externalUrl, messageId })
    return json(toMessageBody(messageId))
  },
})
