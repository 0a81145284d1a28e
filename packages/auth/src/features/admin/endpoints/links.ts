import { checkAuthorized, parseEmail } from '../../../addresses.ts'
import { privilegedRoles } from '../../../config/tokens.ts'
import { invalid } from '../../../errors.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { type Static, Type } from '../../../http/schema.ts'
import { checkPassword } from '../../../passwords/password-policy.ts'
import type { Services } from '../../../services.ts'
import { findRedirectTarget } from '../../redirects/redirect-location.ts'
import { parseUserMetadata } from '../../users/metadata.ts'
import { generateLink, isLinkType, type LinkType, linkTypes } from '../generate-link.ts'
import { inviteUser } from '../invite-user.ts'

export const invite = defineEndpoint({
  method: 'POST',
  path: '/invite',
  summary: 'Invites a user by email',
  allowed: 'admin',
  moreRoles: privilegedRoles,
  query: { redirect_to: 'URL to which the link in the email redirects' },
  body: Type.Object({
    email: Type.Optional(Type.String({ description: 'Email address of the user to invite' })),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
  success: { status: 200, description: 'The user record, with invited_at' },
  async handle(call, services) {
    const { body, audience, adminRole, client, externalUrl } = call
    const email = parseEmail(body.email)
    checkAuthorized(services, email)
    return json(
      await inviteUser(services, {
        email,
        data: parseUserMetadata(services, body.data),
        audience,
        adminRole,
        client,
        redirectTo: findRedirectTarget(call, services.redirects),
        externalUrl,
      }),
    )
  },
})

/** The types whose email `send` sends. */
const sentTypes: readonly LinkType[] = ['signup', 'invite', 'magiclink', 'recovery']

const body = Type.Object({
  type: Type.Optional(Type.String({ description: `One of ${Object.keys(linkTypes).join(', ')}` })),
  email: Type.Optional(Type.String()),
  new_email: Type.Optional(
    Type.String({ description: 'New email address, for the types email_change_…' }),
  ),
  password: Type.Optional(
    Type.String({
      description: 'Password of the new user, for the type signup. Optional with send',
    }),
  ),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  redirect_to: Type.Optional(Type.String()),
  send: Type.Optional(
    Type.Boolean({
      description: `Whether the email is also sent to an existing user, for the types ${sentTypes.join(', ')}. Default: true for the type invite, otherwise false`,
    }),
  ),
  impersonation: Type.Optional(
    Type.Boolean({
      description:
        'Whether the administrator will use the link to sign in as the user, for the type magiclink. The audit entry records it',
    }),
  ),
})

export const adminGenerateLink = defineEndpoint({
  method: 'POST',
  path: '/admin/generate_link',
  summary:
    'Generates the link of an email. Also sends the email for the type invite, or if send is true',
  allowed: 'admin',
  query: { redirect_to: 'URL to which the link redirects. May also be in the body' },
  body,
  success: {
    status: 200,
    description:
      'The user record with action_link, email_otp, hashed_token, verification_type and redirect_to. sent or impersonation is true if it applies',
  },
  async handle(call, services) {
    const { body: fields, audience, adminRole, adminSubject, client, externalUrl } = call
    const { type = '' } = fields
    if (!isLinkType(type)) throw invalid(`Invalid email action link type requested: ${type}`)
    const email = parseEmail(fields.email)
    const { impersonation: isImpersonation = false } = fields
    if (isImpersonation && (type !== 'magiclink' || fields.send)) {
      throw invalid('impersonation requires the type magiclink, without send')
    }
    if (fields.send && !sentTypes.includes(type)) {
      throw invalid(`send requires one of the types ${sentTypes.join(', ')}`)
    }
    // The type invite sends the invitation, except for clients of Supabase Auth, which expect that
    // nothing is sent.
    const isSent = fields.send ?? (type === 'invite' && !call.isSdk)
    if (isSent) checkAuthorized(services, email)
    return json(
      await generateLink(services, {
        type,
        email,
        newEmail: parseNewEmail(type, fields, services),
        password: await parsePassword(type, fields, services),
        data: parseUserMetadata(services, fields.data),
        audience,
        adminRole,
        client,
        redirectTo: findRedirectTarget(call, services.redirects, fields.redirect_to),
        externalUrl,
        isSent,
        isImpersonation,
        adminSubject,
      }),
    )
  },
})

async function parsePassword(
  type: LinkType,
  { password = '', send: isSent }: Static<typeof body>,
  { passwordPolicy }: Services,
): Promise<string | undefined> {
  if (type !== 'signup' || (isSent && password === '')) return undefined
  if (password === '') throw invalid('Signup requires a valid password')
  await checkPassword(password, passwordPolicy)
  return password
}

function parseNewEmail(
  type: LinkType,
  { new_email: newEmail }: Static<typeof body>,
  { config }: Services,
): string | undefined {
  if (!linkTypes[type].changesEmail) return undefined
  if (type === 'email_change_current' && !config.mail.secureEmailChange) {
    throw invalid('Enable secure email change to generate link for current email')
  }
  return parseEmail(newEmail)
}
