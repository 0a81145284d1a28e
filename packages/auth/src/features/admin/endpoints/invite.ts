import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { findRedirectTarget } from '../../redirects/redirect-target.ts'
import { checkAuthorized, parseEmail } from '../../users/addresses.ts'
import { parseUserMetadata } from '../../users/metadata.ts'
import { privilegedRoles } from '../../users/privileged-roles.ts'
import { inviteUser } from '../invite-user.ts'

export const invite = defineEndpoint({
  method: 'POST',
  path: '/invite',
  summary: 'Invites somebody by email',
  allowed: 'admin',
  moreRoles: privilegedRoles,
  query: { redirect_to: 'Where the link in the email leads in the end' },
  body: Type.Object({
    email: Type.Optional(Type.String({ description: 'Whom to invite' })),
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
