import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { providerIds } from '../../plugins/providers/index.ts'

export const settings = defineEndpoint({
  method: 'GET',
  path: '/settings',
  summary: 'What this installation allows',
  allowed: 'anyone',
  success: { status: 200, description: 'Settings that everybody may know' },
  async handle(_call, { config: { external, site, mail, sms, passkeys } }) {
    return json({
      external: Object.fromEntries(providerIds.map((id) => [id, external[id].enabled])),
      disable_signup: site.disableSignup,
      autoconfirm: mail.autoconfirm,
      mailer_autoconfirm: mail.autoconfirm,
      phone_autoconfirm: sms.autoconfirm,
      sms_provider: sms.provider,
      email_enabled: site.emailEnabled,
      phone_enabled: site.phoneEnabled,
      anonymous_users_enabled: site.anonymousEnabled,
      passkeys_enabled: passkeys.enabled,
    })
  },
})
