import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { NewOAuthClient, OAuthClient } from '../../console/routes/access-items.ts'
import type { AdminClient } from '../admin/client.ts'
import { createAdminCommand } from '../admin/command.ts'
import { printItem, printList } from '../admin/output.ts'
import { type Fact, toSafe, toTime } from '../admin/text.ts'
import {
  type AdminInput,
  type AdminVerb,
  createClient,
  requireConsent,
  toText,
  toTexts,
} from '../admin/verb.ts'
import { findNamed, listAll, requireAnswer } from './items.ts'
import { findOverlapFault, overlapOption, printSecret, toSeconds } from './secrets.ts'

type Option =
  | 'redirect-uri'
  | 'public'
  | 'grant'
  | 'scope'
  | 'website'
  | 'dpop'
  | 'no-dpop'
  | 'name'
  | 'overlap'
  | 'yes'
type Input = AdminInput<Option>
type ClientsVerb = AdminVerb<Option>

const path = '/admin/oauth/clients'

/** Short names of the grant types whose names are URNs. */
const shortGrants: Readonly<Record<string, string>> = {
  device_code: 'urn:ietf:params:oauth:grant-type:device_code',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
}
const grants = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  ...Object.keys(shortGrants),
] as const

const list: ClientsVerb = {
  synopsis: '[TEXT]',
  summary: 'list all clients, or those whose name or id contains a text',
  takes: [0, 1],
  options: [],
  operands: 'any',
  async run(input) {
    const text = (input.positionals[0] ?? '').toLowerCase()
    const found = (await listClients(createClient(input))).filter((client) =>
      `${client.client_name ?? ''} ${client.client_id}`.toLowerCase().includes(text),
    )
    printList(input, found, {
      headings: ['ID', 'NAME', 'TYPE', 'GRANTS', 'CREATED (UTC)'],
      toRow: (client) => [
        client.client_id,
        toSafe(client.client_name ?? '-'),
        client.client_type,
        toGrantNames(client),
        toTime(client.created_at),
      ],
      none: text === '' ? 'There are no OAuth clients.' : 'No clients match.',
    })
  },
}

const show: ClientsVerb = {
  synopsis: 'CLIENT',
  summary: 'print a client; CLIENT is its id or its name',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    const client = await getClient(createClient(input), input.positionals[0] ?? '')
    printItem(input, client, toFacts(client))
  },
}

const create: ClientsVerb = {
  synopsis: 'NAME --redirect-uri URI… [OPTION…]',
  summary: 'register a client, and print its id and secret',
  takes: [1, 1],
  options: ['redirect-uri', 'public', 'grant', 'scope', 'website', 'dpop'],
  operands: 'any',
  findFault({ values }) {
    const given = toGrants(values) ?? ['authorization_code']
    if (given.includes('authorization_code') && toTexts(values['redirect-uri']).length === 0) {
      return '--redirect-uri is missing. A client that does not sign users in needs --grant instead, such as --grant client_credentials.'
    }
    return findGrantFault(values)
  },
  async run(input) {
    const { positionals, values } = input
    const client = await createClient(input).post(path, {
      client_name: positionals[0],
      ...(values.public === true && { client_type: 'public' }),
      ...toFields(values),
    })
    printClient(input, requireAnswer(client, path))
  },
}

const update: ClientsVerb = {
  synopsis: 'CLIENT [OPTION…]',
  summary: 'change the given settings of a client',
  takes: [1, 1],
  options: ['name', 'redirect-uri', 'grant', 'scope', 'website', 'dpop', 'no-dpop'],
  operands: 'any',
  findFault({ values }) {
    if (Object.keys(toFields(values)).length > 0) return findGrantFault(values)
    return 'There is nothing to change: pass --name, --redirect-uri, --grant, --scope, --website, --dpop or --no-dpop.'
  },
  async run(input) {
    const admin = createClient(input)
    const { client_id: id } = await getClient(admin, input.positionals[0] ?? '')
    const answer = await admin.put(`${path}/${id}`, toFields(input.values))
    const changed = requireAnswer<OAuthClient>(answer, path)
    printItem(input, changed, toFacts(changed))
  },
}

const rotate: ClientsVerb = {
  synopsis: 'CLIENT [--overlap DURATION]',
  summary: 'replace the secret of a client, and print the new one',
  takes: [1, 1],
  options: ['overlap'],
  operands: 'any',
  findFault: ({ values }) => findOverlapFault(toText(values.overlap) ?? '0'),
  async run(input) {
    const { positionals, values } = input
    const admin = createClient(input)
    const { client_id: id } = await getClient(admin, positionals[0] ?? '')
    const seconds = toSeconds(toText(values.overlap) ?? '0')
    const query = new URLSearchParams({ overlap_seconds: `${seconds}` })
    const client = await admin.post(`${path}/${id}/regenerate_secret?${query}`, {})
    printClient(input, requireAnswer(client, path))
  },
}

const remove: ClientsVerb = {
  synopsis: 'CLIENT [--yes]',
  summary: 'delete a client, and end its sessions and the grants of all users',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const client = await getClient(admin, input.positionals[0] ?? '')
    await requireConsent(
      input,
      `Delete ${toName(client)}? Its sessions and the grants of all users end. This cannot be undone.`,
    )
    await admin.delete(`${path}/${client.client_id}`)
    printItem(input, client, `${toName(client)} was deleted`)
  },
}

function listClients(admin: AdminClient): Promise<readonly OAuthClient[]> {
  return listAll<OAuthClient>(admin, path, 'clients')
}

export async function getClient(admin: AdminClient, name: string): Promise<OAuthClient> {
  return findNamed(await listClients(admin), name, {
    noun: 'OAuth client',
    toNames: ({ client_id: id, client_name: own }) => ({ id, names: [own] }),
    advice: 'To list all: portcullis clients list',
  })
}

function toName({ client_name: name, client_id: id }: OAuthClient): string {
  return name === undefined ? id : `${toSafe(name)} (${id})`
}

function toGrants(values: Input['values']): readonly string[] | undefined {
  const given = toTexts(values.grant)
  return given.length === 0 ? undefined : given.map((name) => shortGrants[name] ?? name)
}

function findGrantFault(values: Input['values']): string | undefined {
  const unknown = toTexts(values.grant).find(
    (name) => !(grants as readonly string[]).includes(name),
  )
  return unknown === undefined
    ? undefined
    : toValueFault('--grant', `one of ${grants.join(', ')}`, unknown)
}

/** The fields of a request; settings that are not given are absent. */
function toFields(values: Input['values']) {
  const uris = toTexts(values['redirect-uri'])
  const grant_types = toGrants(values)
  return {
    ...(values.name !== undefined && { client_name: values.name }),
    ...(uris.length > 0 && { redirect_uris: uris }),
    ...(grant_types !== undefined && { grant_types }),
    ...(values.scope !== undefined && { scope: values.scope }),
    ...(values.website !== undefined && { client_uri: values.website }),
    ...(values.dpop === true && { dpop_bound_access_tokens: true }),
    ...(values['no-dpop'] === true && { dpop_bound_access_tokens: false }),
  }
}

/** Public clients have no secret. */
function printClient(input: Input, client: NewOAuthClient): void {
  const { client_secret: secret, client_id: id } = client
  if (secret === undefined) return printItem(input, client, [['client id', id]])
  printSecret(input, client, [
    ['client id', id],
    ['client secret', secret],
  ])
}

function toGrantNames({ grant_types: types }: OAuthClient): string {
  const names = new Map(Object.entries(shortGrants).map(([name, urn]) => [urn, name]))
  return types.map((type) => names.get(type) ?? type).join(', ')
}

function toFacts(client: OAuthClient): readonly Fact[] {
  const { previous_secret_expires_at: previous } = client
  return [
    ['client id', client.client_id],
    ['name', toSafe(client.client_name ?? '-')],
    ['type', client.client_type],
    ['redirect URIs', toSafe(client.redirect_uris.join(' ') || '-')],
    ['grants', toGrantNames(client)],
    ['scopes', client.scope ?? 'all'],
    ['website', toSafe(client.client_uri ?? '-')],
    ['DPoP', client.dpop_bound_access_tokens ? 'required' : 'not required'],
    ['registration', client.registration_type],
    ['created', toTime(client.created_at)],
    ...(previous === undefined ? [] : [['old secret ends', toTime(previous)] as const]),
  ]
}

export const clients = createAdminCommand<Option>({
  name: 'clients',
  summary: 'list, create and delete OAuth clients, and rotate their secrets',
  about:
    'Manages the OAuth clients of an auth server: applications that sign users in with it, or get tokens for themselves.',
  verbs: { list, show, create, update, rotate, delete: remove },
  own: {
    'redirect-uri': {
      value: 'URI',
      meaning: 'with create and update: where users return to; can be repeated',
      isRepeated: true,
    },
    grant: {
      value: 'GRANT',
      meaning: `how the client gets tokens: ${grants.join(', ')}; can be repeated; default: authorization_code and refresh_token`,
      kind: { choices: grants },
      isRepeated: true,
    },
    scope: {
      value: 'SCOPES',
      meaning: 'the scopes that the client may request, separated by spaces; default: all',
    },
    public: { meaning: 'with create: a browser, mobile or desktop app, which has no secret' },
    dpop: { meaning: 'the client gets only tokens that are bound to a key (DPoP)' },
    'no-dpop': { meaning: 'with update: the client also gets other tokens' },
    name: { value: 'NAME', meaning: 'with update: the name that users see' },
    website: { value: 'URL', meaning: 'the website of the application' },
    overlap: overlapOption,
    yes: {
      meaning: 'with delete: do not ask for confirmation; needed without a terminal',
    },
  },
})
