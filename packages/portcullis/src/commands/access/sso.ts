import type { NewScimToken, ScimToken, SsoProvider } from '../../console/routes/access-items.ts'
import { type AdminClient, AdminFailure } from '../admin/client.ts'
import { createAdminCommand } from '../admin/command.ts'
import { createPaint, type Fact, toFactLines, toSafe, toTable, toTime } from '../admin/text.ts'
import {
  type AdminInput,
  type AdminVerb,
  createClient,
  requireConsent,
  toText,
  toTexts,
} from '../admin/verb.ts'
import { readInput } from './files.ts'
import { findNamed, noEndpoint } from './items.ts'
import { printSecret } from './secrets.ts'

type Option = 'metadata-url' | 'metadata-file' | 'domain' | 'yes'
type Input = AdminInput<Option>
type SsoVerb = AdminVerb<Option>

const path = '/admin/sso/providers'

const list: SsoVerb = {
  synopsis: '',
  summary: 'list the identity providers',
  takes: [0, 0],
  options: [],
  async run(input) {
    const { values, io } = input
    const found = await listProviders(createClient(input))
    if (values.json) for (const provider of found) io.stdout.write(`${JSON.stringify(provider)}\n`)
    else if (found.length === 0) io.stderr.write('There are no identity providers.\n')
    else {
      const rows = found.map((provider) => [
        provider.id,
        toDomains(provider) || '-',
        toSafe(provider.saml.entity_id),
        toState(provider),
        toTime(provider.created_at),
      ])
      const headings = ['ID', 'DOMAINS', 'ENTITY ID', 'STATE', 'CREATED (UTC)']
      io.stdout.write(toTable(headings, rows, createPaint(io)))
    }
  },
}

const show: SsoVerb = {
  synopsis: 'PROVIDER',
  summary: 'print an identity provider; PROVIDER is an id, a domain or an entity ID',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    print(input, await getProvider(createClient(input), input.positionals[0] ?? ''))
  },
}

const create: SsoVerb = {
  synopsis: '--metadata-url URL | --metadata-file FILE [--domain DOMAIN]…',
  summary: 'add the identity provider of a company',
  takes: [0, 0],
  options: ['metadata-url', 'metadata-file', 'domain'],
  findFault({ values }) {
    const [url, file] = [values['metadata-url'], values['metadata-file']]
    if (url === undefined && file === undefined) {
      return 'The metadata is missing: pass --metadata-url URL or --metadata-file FILE.'
    }
    if (url === undefined || file === undefined) return undefined
    return 'Pass either --metadata-url or --metadata-file, not both.'
  },
  async run(input) {
    const { values } = input
    const file = toText(values['metadata-file'])
    const provider = await createClient(input).post(path, {
      type: 'saml',
      domains: toTexts(values.domain),
      ...(file === undefined
        ? { metadata_url: values['metadata-url'] }
        : { metadata_xml: await readInput('--metadata-file', file) }),
    })
    if (provider === undefined) throw noEndpoint(path)
    print(input, provider as SsoProvider)
  },
}

function createSwitch(disabled: boolean): SsoVerb {
  return {
    synopsis: 'PROVIDER',
    summary: disabled
      ? 'do not let users sign in with an identity provider'
      : 'let users sign in with an identity provider again',
    takes: [1, 1],
    options: [],
    operands: 'any',
    async run(input) {
      const admin = createClient(input)
      const { id } = await getProvider(admin, input.positionals[0] ?? '')
      const changed = await admin.put(`${path}/${id}`, { disabled })
      if (changed === undefined) throw noEndpoint(path)
      print(input, changed as SsoProvider)
    },
  }
}

const remove: SsoVerb = {
  synopsis: 'PROVIDER [--yes]',
  summary: 'delete an identity provider and its SCIM tokens',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const admin = createClient(input)
    const provider = await getProvider(admin, positionals[0] ?? '')
    await requireConsent(
      input,
      `Delete ${toName(provider)}? Its users can no longer sign in with it. This cannot be undone.`,
    )
    await admin.delete(`${path}/${provider.id}`)
    const text = `${toName(provider)} was deleted\n`
    io.stdout.write(values.json ? `${JSON.stringify(provider)}\n` : text)
  },
}

const tokens: SsoVerb = {
  synopsis: 'PROVIDER',
  summary: 'list the SCIM tokens of an identity provider',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const admin = createClient(input)
    const { id } = await getProvider(admin, positionals[0] ?? '')
    const { items } = Object(await admin.get(`${path}/${id}/scim-tokens`))
    if (!Array.isArray(items)) throw noEndpoint(`${path}/${id}/scim-tokens`)
    const found: readonly ScimToken[] = items
    if (values.json) for (const token of found) io.stdout.write(`${JSON.stringify(token)}\n`)
    else if (found.length === 0) io.stderr.write('There are no SCIM tokens.\n')
    else {
      const rows = found.map((token) => [token.id, toTime(token.created_at)])
      io.stdout.write(toTable(['ID', 'CREATED (UTC)'], rows, createPaint(io)))
    }
  },
}

const createToken: SsoVerb = {
  synopsis: 'PROVIDER',
  summary: 'create a SCIM token, with which an identity provider manages its users',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const { id } = await getProvider(admin, input.positionals[0] ?? '')
    const created = await admin.post(`${path}/${id}/scim-tokens`, {})
    if (created === undefined) throw noEndpoint(`${path}/${id}/scim-tokens`)
    const token = created as NewScimToken
    printSecret(input, token, [
      ['id', token.id],
      ['token', token.token],
    ])
  },
}

const revokeToken: SsoVerb = {
  synopsis: 'PROVIDER TOKEN_ID [--yes]',
  summary: 'revoke a SCIM token',
  takes: [2, 2],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const [name = '', tokenId = ''] = positionals
    const admin = createClient(input)
    const provider = await getProvider(admin, name)
    await requireConsent(
      input,
      `Revoke the SCIM token ${tokenId} of ${toName(provider)}? This cannot be undone.`,
    )
    const tokenPath = `${path}/${provider.id}/scim-tokens/${encodeURIComponent(tokenId)}`
    const answer = await admin.delete(tokenPath)
    if (answer === undefined) {
      throw new AdminFailure(
        `There is no SCIM token ${tokenId}. To list all: portcullis sso tokens ${name}`,
      )
    }
    const text = `The SCIM token ${tokenId} was revoked\n`
    io.stdout.write(values.json ? `${JSON.stringify({ id: tokenId })}\n` : text)
  },
}

async function listProviders(admin: AdminClient): Promise<readonly SsoProvider[]> {
  const { items } = Object(await admin.get(path))
  if (!Array.isArray(items)) throw noEndpoint(path)
  return items
}

async function getProvider(admin: AdminClient, name: string): Promise<SsoProvider> {
  return findNamed(await listProviders(admin), name, {
    noun: 'identity provider',
    toNames: ({ id, domains, saml }) => ({
      id,
      names: [saml.entity_id, ...domains.map(({ domain }) => domain)],
    }),
    advice: 'To list all: portcullis sso list',
  })
}

function toDomains({ domains }: SsoProvider): string {
  return toSafe(domains.map(({ domain }) => domain).join(', '))
}

function toName(provider: SsoProvider): string {
  return `${toDomains(provider) || toSafe(provider.saml.entity_id)} (${provider.id})`
}

function toState({ disabled }: SsoProvider): string {
  return disabled ? 'disabled' : 'enabled'
}

function print({ values, io }: Input, provider: SsoProvider): void {
  const { saml } = provider
  const facts: readonly Fact[] = [
    ['id', provider.id],
    ['domains', toDomains(provider) || '-'],
    ['entity id', toSafe(saml.entity_id)],
    ['metadata', toSafe(saml.metadata_url ?? 'entered as XML')],
    ['state', toState(provider)],
    ['created', toTime(provider.created_at)],
  ]
  io.stdout.write(
    values.json ? `${JSON.stringify(provider)}\n` : toFactLines(facts, createPaint(io)),
  )
}

export const sso = createAdminCommand<Option>({
  name: 'sso',
  summary: 'manage the SAML identity providers of companies, and SCIM tokens',
  about:
    'Manages the identity providers with which the users of companies sign in to an auth server.',
  note: 'Attributes are mapped in the console and in the API.',
  verbs: {
    list,
    show,
    create,
    enable: createSwitch(false),
    disable: createSwitch(true),
    delete: remove,
    tokens,
    'create-token': createToken,
    'revoke-token': revokeToken,
  },
  own: {
    'metadata-url': { value: 'URL', meaning: 'with create: the URL of the SAML metadata' },
    'metadata-file': {
      value: 'FILE',
      meaning: 'with create: file with the SAML metadata; - reads standard input',
      kind: 'file',
    },
    domain: {
      value: 'DOMAIN',
      meaning: 'with create: email domain whose users sign in with the provider; can be repeated',
      isRepeated: true,
    },
    yes: {
      meaning:
        'with delete and revoke-token: do not ask for confirmation; needed without a terminal',
    },
  },
})
