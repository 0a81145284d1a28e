import type { Page } from 'playwright-core'
import type {
  ApiKey,
  CustomProvider,
  OAuthClient,
  ServiceAccount,
  SsoProvider,
} from '../src/console/routes/access-items.ts'
import { createSamlMetadata } from '../test/support/access-data.ts'
import type { TestWorld } from '../test/support/world.ts'
import { type Prepare, showAnswer, toThousand } from './page-states.ts'

const prepared = new WeakMap<TestWorld, Promise<Created>>()

interface Created {
  readonly client: OAuthClient
  readonly provider: CustomProvider
  readonly sso: SsoProvider
}

/** Adds a few of everything, once. */
function prepareAccess(page: Page, world: TestWorld): Promise<Created> {
  const before = prepared.get(world)
  if (before) return before
  const created = createAll(page, world)
  prepared.set(world, created)
  return created
}

async function createAll(page: Page, { consoleUrl }: TestWorld): Promise<Created> {
  const post = async <Body>(path: string, data: object): Promise<Body> => {
    const answer = await page.request.post(`${consoleUrl}/api/access/${path}`, {
      headers: { 'x-portcullis-console': '1' },
      data,
    })
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as Body
  }
  await post('clients', {
    client_name: 'Notes for iOS',
    client_type: 'public',
    redirect_uris: ['com.example.notes://callback'],
  })
  await post('clients', {
    client_name: 'Nightly report',
    grant_types: ['client_credentials'],
    scope: 'reports:read',
  })
  const client = await post<OAuthClient>('clients', {
    client_name: 'Travel planner',
    client_uri: 'https://planner.example.com',
    redirect_uris: ['https://planner.example.com/callback', 'http://localhost:3000/callback'],
  })
  await page.request.post(
    `${consoleUrl}/api/access/clients/${client.client_id}/secret?overlap_seconds=86400`,
    { headers: { 'x-portcullis-console': '1' } },
  )
  const plain = {
    provider_type: 'oauth2',
    client_id: 'portcullis',
    client_secret: 'a secret of the provider',
    authorization_url: 'https://accounts.example.com/authorize',
    token_url: 'https://accounts.example.com/token',
    userinfo_url: 'https://accounts.example.com/me',
  }
  await post('providers', { ...plain, identifier: 'custom:old', name: 'Old forum', enabled: false })
  const provider = await post<CustomProvider>('providers', {
    ...plain,
    identifier: 'custom:example',
    name: 'Example accounts',
    scopes: ['profile', 'email'],
    attribute_mapping: { email: 'mail', sub: 'account_id' },
  })
  await post('sso', {
    type: 'saml',
    metadata_xml: createSamlMetadata('https://idp.partner.example/saml'),
    domains: ['partner.example'],
  })
  const sso = await post<SsoProvider>('sso', {
    type: 'saml',
    metadata_xml: createSamlMetadata('https://login.company.example/saml'),
    domains: ['company.example', 'company.example.org'],
    attribute_mapping: { keys: { email: { names: ['mail', 'email'] } } },
  })
  await post(`sso/${sso.id}/scim-tokens`, {})
  const account = await post<ServiceAccount>('service-accounts', { name: 'Billing', plan: 'pro' })
  await post('service-accounts', { name: 'Data warehouse', role: 'analyst' })
  for (const [name, scopes] of [
    ['Invoices', ['invoices:read', 'invoices:write']],
    ['Nightly export', ['reports:read']],
  ] as const) {
    const expires_at = new Date(Date.now() + 90 * 86_400_000).toISOString()
    await post('keys', { name, scopes, service_account_id: account.id, expires_at })
  }
  const { api_keys: keys }: { readonly api_keys: readonly ApiKey[] } = await (
    await page.request.get(`${consoleUrl}/api/access/keys`, {
      headers: { 'x-portcullis-console': '1' },
    })
  ).json()
  await post(`keys/${keys[0]?.id}/rotate`, { overlap_seconds: 86_400 })
  return { client, provider, sso }
}

/** Shows the page at an address, once it contains a text. */
function showAccess(toQuery: (created: Created) => string, text: string): Prepare {
  return async (page, world) => {
    const created = await prepareAccess(page, world)
    await page.goto(`${world.consoleUrl}/access${toQuery(created)}`)
    await page.getByText(text).first().waitFor()
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }
}

function showForm(query: string, title: string): Prepare {
  return async (page, world) => {
    await showAccess(() => query, title)(page, world)
    await page.getByRole('dialog', { name: title }).waitFor()
  }
}

/** Registers a client and shows its secret. */
const showSecret: Prepare = async (page, world) => {
  await showForm('?new=client', 'Register OAuth client')(page, world)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Shop')
  await dialog.getByLabel('Redirect URIs').fill('https://shop.example.com/callback')
  await dialog.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Client secret').waitFor()
}

/** Shows a form after the server has refused a field. */
const showFieldError: Prepare = async (page, world) => {
  await showForm('?new=client', 'Register OAuth client')(page, world)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Redirect URIs').fill('http://shop.example.com/callback')
  await dialog.getByRole('button', { name: 'Register' }).click()
  await page.getByText('HTTP scheme only allowed').waitFor()
}

const showSwitchedOff: Prepare = async (page, { consoleUrl }) => {
  await page.route(
    (url) => url.pathname === '/api/access/sso',
    (route) =>
      route.fulfill({
        status: 404,
        json: { code: 404, error_code: 'saml_provider_disabled', msg: 'SAML 2.0 is disabled' },
      }),
  )
  await page.goto(`${consoleUrl}/access?tab=sso`)
  await page.getByText('AUTH_SAML_ENABLED=true').waitFor()
}

interface Clients {
  readonly clients: readonly OAuthClient[]
}

const showMany: Prepare = async (page, world) => {
  await prepareAccess(page, world)
  const toMany = ({ clients }: Clients) => ({
    clients: toThousand(clients, (client, index) => ({
      ...client,
      client_id: `${client.client_id}-${index}`,
      client_name: `Client ${index + 1}`,
    })),
  })
  await showAnswer(
    '/access',
    { call: '/api/access/clients', change: toMany, total: 1_000 },
    'Show more',
  )(page, world)
}

/** The scenes of the page Access. */
export const accessScenes: Readonly<Record<string, Prepare>> = {
  access: showAccess(() => '', 'Travel planner'),
  'access-client': showAccess(({ client }) => `?id=${client.client_id}`, 'Redirect URIs'),
  'access-client-new': showForm('?new=client', 'Register OAuth client'),
  'access-client-refused': showFieldError,
  'access-client-secret': showSecret,
  'access-providers': showAccess(() => '?tab=providers', 'Example accounts'),
  'access-provider': showAccess(
    ({ provider }) => `?${new URLSearchParams({ tab: 'providers', id: provider.identifier })}`,
    'Attribute mapping',
  ),
  'access-provider-new': showForm('?tab=providers&new=provider', 'Add custom provider'),
  'access-sso': showAccess(() => '?tab=sso', 'partner.example'),
  'access-sso-one': showAccess(({ sso }) => `?tab=sso&id=${sso.id}`, 'SCIM URL'),
  'access-sso-new': showForm('?tab=sso&new=sso', 'Add identity provider'),
  'access-sso-off': showSwitchedOff,
  'access-keys': showAccess(() => '?tab=keys', 'Nightly export'),
  'access-key-new': showForm('?tab=keys&new=key', 'Create API key'),
  'access-many': showMany,
  'access-empty': showAnswer(
    '/access',
    { call: '/api/access/clients', change: () => ({ clients: [] }) },
    'No OAuth clients yet',
  ),
}
