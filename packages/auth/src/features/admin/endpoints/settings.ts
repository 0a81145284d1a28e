import { checkAuthorized, parseEmail } from '../../../addresses.ts'
import type { Config } from '../../../config/config.ts'
import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { type ProviderId, providerIds } from '../../../plugins/providers/index.ts'
import { external, listMissing } from '../../../plugins/providers/settings.ts'
import { listMailTemplates, parseMessageName, sendTestMail } from '../mail-templates.ts'

const uncached = { 'cache-control': 'no-store' }

export const adminSettings = defineEndpoint({
  method: 'GET',
  path: '/admin/settings',
  summary:
    'Returns all settings with their sources, and the sign-in providers. Supabase Auth has no such endpoint',
  allowed: 'admin',
  success: {
    status: 200,
    description: 'Settings and providers. A secret has no value, only is_set',
  },
  handle: async (_call, { config }) =>
    json({ settings: config.effective, providers: listProviders(config) }, uncached),
})

export const adminMailTemplates = defineEndpoint({
  method: 'GET',
  path: '/admin/mail-templates',
  summary: 'Renders all email templates with example values. Supabase Auth has no such endpoint',
  allowed: 'admin',
  success: {
    status: 200,
    description: 'Subject, HTML, plain text and variables of each template',
  },
  handle: async (_call, services) => json(await listMailTemplates(services), uncached),
})

export const adminTestMail = defineEndpoint({
  method: 'POST',
  path: '/admin/mail-templates/test',
  summary: 'Sends a template with example values to an address. Supabase Auth has no such endpoint',
  allowed: 'admin',
  limiter: 'otp',
  body: Type.Object({
    template: Type.Optional(Type.String({ description: 'Name of the template' })),
    email: Type.Optional(Type.String({ description: 'Address of the recipient' })),
  }),
  success: {
    status: 200,
    description: 'The template and the recipient. The mail server has accepted the message',
  },
  async handle({ body, adminRole, client }, services) {
    const name = parseMessageName(body.template)
    const email = parseEmail(body.email)
    checkAuthorized(services, email)
    await sendTestMail(services, { name, email, adminRole, client })
    return json({ template: name, email })
  },
})

/** A sign-in provider as an operator sees it. */
interface ProviderOverview {
  readonly id: ProviderId
  readonly is_enabled: boolean
  /** The variables that have to be set before users can sign in with it. */
  readonly missing: readonly string[]
  /** The URL to register with the provider. */
  readonly callback_url: string
  readonly client_ids: readonly string[]
}

/** Lists all providers, enabled ones first. */
function listProviders({
  external: config,
  api,
}: Pick<Config, 'external' | 'api'>): readonly ProviderOverview[] {
  const all = providerIds.map((id): ProviderOverview => {
    const { enabled, clientIds, redirectUri } = config[id]
    const missing = listMissing(id, config[id]).map(({ variable }) => variable.name)
    const { name: switchName } = external[id].variables.enabled
    return {
      id,
      is_enabled: enabled,
      missing: enabled ? missing : [switchName, ...missing],
      callback_url: redirectUri || `${api.externalUrl}/callback`,
      client_ids: clientIds,
    }
  })
  return all.toSorted((one, other) => Number(other.is_enabled) - Number(one.is_enabled))
}
