import type { NewScimToken, ScimToken, SsoProvider } from '../../console/routes/access-items.ts'
import { type AdminClient, AdminFailure } from '../admin/client.ts'
import { createAdminCommand } from '../admin/command.ts'
import { printItem, printList } from '../admin/output.ts'
import { toSafe, toTime } from '../admin/text.ts'
import {
  type AdminInput,
  type AdminVerb,
  createClient,
  requireConsent,
  toText,
  toTexts,
} from '../admin/verb.ts'
import { readInput } from './files.ts'
import { findNamed, listField, requireAnswer } from './items.ts'
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
    printList(input, await listProviders(createClient(input)), {
      headings: ['ID', 'DOMAINS', 'ENTITY ID', 'STATE', 'CREATED (UTC)'],
      toRow: (provider) => [
        provider.id,
        toDomains(provider) || '-',
        toSafe(provider.saml.entity_id),
        toState(provider),
        toTime(provider.created_at),
      ],
      none: 'There are no identity providers.',
    })
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
    const created = await createClient(input).post(path, {
      type: 'saml',
      domains: toTexts(values.domain),
      ...(file === undefined
        ? { metadata_url: values['metadata-url'] }
        : { metadata_xml: await readInput('--metadata-file', file) }),
    })
    print(input, requireAnswer(created, path))
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
      print(input, requireAnswer(changed, path))
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
    const admin = createClient(input)
    const provider = await getProvider(admin, input.positionals[0] ?? '')
    await requireConsent(
      input,
      `Delete ${toName(provider)}? Its users can no longer sign in with it. This cannot be undone.`,
    )
    await admin.delete(`${path}/${provider.id}`)
    printItem(input, provider, `${toName(provider)} was deleted`)
  },
}

const tokens: SsoVerb = {
  synopsis: 'PROVIDER',
  summary: 'list the SCIM tokens of an identity provider',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const { id } = await getProvider(admin, input.positionals[0] ?? '')
    const found = await listField<ScimToken>(admin, `${path}/${id}/scim-tokens`, 'items')
    printList(input, found, {
      headings: ['ID', 'CREATED (UTC)'],
      toRow: (token) => [token.id, toTime(token.created_at)],
      none: 'There are no SCIM tokens.',
    })
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
    const tokensPath = `${path}/${id}/scim-tokens`
    const token = requireAnswer<NewScimToken>(await admin.post(tokensPath, {}), tokensPath)
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
    const [name = '', tokenId = ''] = input.positionals
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
    printItem(input, { id: tokenId }, `The SCIM token ${tokenId} was revoked`)
  },
}

function listProviders(admin: AdminClient): Promise<readonly SsoProvider[]> {
  return listField(admin, path, 'items')
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

function print(input: Input, provider: SsoProvider): void {
  const { saml } = provider
  printItem(input, provider, [
    ['id', provider.id],
    ['domains', toDomains(provider) || '-'],
    ['entity id', toSafe(saml.entity_id)],
    ['metadata', toSafe(saml.metadata_url ?? 'entered as XML')],
    ['state', toState(provider)],
    ['created', toTime(provider.created_at)],
  ])
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
