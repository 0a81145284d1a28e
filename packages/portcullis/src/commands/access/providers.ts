import type { CustomProvider } from '../../console/routes/access-items.ts'
import type { AdminClient } from '../admin/client.ts'
import { createAdminCommand } from '../admin/command.ts'
import { printItem, printList } from '../admin/output.ts'
import { toSafe, toTime } from '../admin/text.ts'
import {
  type AdminInput,
  type AdminVerb,
  createClient,
  requireConsent,
  toText,
} from '../admin/verb.ts'
import { readInput } from './files.ts'
import { findNamed, listField, requireAnswer } from './items.ts'

const urls = ['authorization-url', 'token-url', 'userinfo-url'] as const

type Option =
  | 'name'
  | 'client-id'
  | 'secret-file'
  | 'issuer'
  | (typeof urls)[number]
  | 'scope'
  | 'yes'
type Input = AdminInput<Option>
type ProvidersVerb = AdminVerb<Option>

const path = '/admin/custom-providers'

const list: ProvidersVerb = {
  synopsis: '',
  summary: 'list the custom providers',
  takes: [0, 0],
  options: [],
  async run(input) {
    printList(input, await listProviders(createClient(input)), {
      headings: ['IDENTIFIER', 'NAME', 'TYPE', 'STATE', 'CREATED (UTC)'],
      toRow: (provider) => [
        provider.identifier,
        toSafe(provider.name),
        provider.provider_type,
        toState(provider),
        toTime(provider.created_at),
      ],
      none: 'There are no custom providers.',
    })
  },
}

const show: ProvidersVerb = {
  synopsis: 'PROVIDER',
  summary: 'print a provider; PROVIDER is an identifier such as custom:acme, or a name',
  takes: [1, 1],
  options: [],
  operands: 'any',
  async run(input) {
    print(input, await getProvider(createClient(input), input.positionals[0] ?? ''))
  },
}

const create: ProvidersVerb = {
  synopsis: 'IDENTIFIER --client-id ID --secret-file FILE --issuer URL [OPTION…]',
  summary:
    'add a provider of OpenID Connect, or with three other URLs of OAuth 2.0;\nthe identifier is custom: and a name',
  takes: [1, 1],
  options: ['name', 'client-id', 'secret-file', 'issuer', ...urls, 'scope'],
  operands: 'any',
  findFault({ values }) {
    for (const name of ['client-id', 'secret-file'] as const) {
      if (values[name] === undefined) return `--${name} is missing.`
    }
    const missing = urls.find((name) => values[name] === undefined)
    if (values.issuer !== undefined) {
      const other = urls.find((name) => values[name] !== undefined)
      return other && `Pass either --issuer or --${other}, not both.`
    }
    if (missing === undefined) return undefined
    return urls.every((name) => values[name] === undefined)
      ? '--issuer is missing. For OAuth 2.0 without OpenID Connect, pass --authorization-url, --token-url and --userinfo-url.'
      : `--${missing} is missing.`
  },
  async run(input) {
    const { positionals, values } = input
    const [identifier = ''] = positionals
    const client_secret = await readInput('--secret-file', toText(values['secret-file']) ?? '')
    const created = await createClient(input).post(path, {
      provider_type: values.issuer === undefined ? 'oauth2' : 'oidc',
      identifier,
      name: values.name ?? identifier.replace(/^custom:/, ''),
      client_id: values['client-id'],
      client_secret,
      ...(values.scope !== undefined && { scopes: `${values.scope}`.split(' ').filter(Boolean) }),
      ...(values.issuer !== undefined && { issuer: values.issuer }),
      ...Object.fromEntries(
        urls.flatMap((name) =>
          values[name] === undefined ? [] : [[name.replace('-', '_'), values[name]]],
        ),
      ),
    })
    print(input, requireAnswer(created, path))
  },
}

function createSwitch(enabled: boolean): ProvidersVerb {
  return {
    synopsis: 'PROVIDER',
    summary: enabled
      ? 'let users sign in with a provider again'
      : 'do not let users sign in with a provider',
    takes: [1, 1],
    options: [],
    operands: 'any',
    async run(input) {
      const admin = createClient(input)
      const { identifier } = await getProvider(admin, input.positionals[0] ?? '')
      const changed = await admin.put(`${path}/${identifier}`, { enabled })
      printItem(input, requireAnswer(changed, path), `${identifier} is ${toState({ enabled })}`)
    },
  }
}

const remove: ProvidersVerb = {
  synopsis: 'PROVIDER [--yes]',
  summary: 'delete a provider; its users remain, but cannot sign in with it',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const provider = await getProvider(admin, input.positionals[0] ?? '')
    const { identifier } = provider
    await requireConsent(
      input,
      `Delete ${identifier}? Its users can no longer sign in with it. This cannot be undone.`,
    )
    await admin.delete(`${path}/${identifier}`)
    printItem(input, provider, `${identifier} was deleted`)
  },
}

function listProviders(admin: AdminClient): Promise<readonly CustomProvider[]> {
  return listField(admin, path, 'providers')
}

async function getProvider(admin: AdminClient, name: string): Promise<CustomProvider> {
  return findNamed(await listProviders(admin), name, {
    noun: 'custom provider',
    toNames: ({ identifier, name: own }) => ({
      id: identifier,
      names: [own, identifier.replace(/^custom:/, '')],
    }),
    advice: 'To list all: portcullis providers list',
  })
}

function toState({ enabled }: Pick<CustomProvider, 'enabled'>): string {
  return enabled ? 'enabled' : 'disabled'
}

function print(input: Input, provider: CustomProvider): void {
  const { issuer, authorization_url: authorization = '', token_url: token = '' } = provider
  printItem(input, provider, [
    ['identifier', provider.identifier],
    ['name', toSafe(provider.name)],
    ['state', toState(provider)],
    ...(issuer === undefined
      ? ([
          ['authorization', toSafe(authorization)],
          ['token', toSafe(token)],
          ['user info', toSafe(provider.userinfo_url ?? '-')],
        ] as const)
      : ([['issuer', toSafe(issuer)]] as const)),
    ['client id', toSafe(provider.client_id)],
    ['scopes', toSafe(provider.scopes.join(' ') || '-')],
    ['created', toTime(provider.created_at)],
  ])
}

export const providers = createAdminCommand<Option>({
  name: 'providers',
  summary: 'add, disable and delete custom OAuth and OpenID Connect providers',
  about: 'Manages the custom providers of an auth server.',
  note: 'Claims are mapped in the console and in the API.',
  verbs: {
    list,
    show,
    create,
    enable: createSwitch(true),
    disable: createSwitch(false),
    delete: remove,
  },
  own: {
    issuer: { value: 'URL', meaning: 'with create: the issuer of OpenID Connect' },
    'client-id': {
      value: 'ID',
      meaning: 'with create: the client id of this server at the provider',
    },
    'secret-file': {
      value: 'FILE',
      meaning: 'with create: file with the client secret; - reads standard input',
      kind: 'file',
    },
    name: { value: 'NAME', meaning: 'with create: the name in lists' },
    scope: { value: 'SCOPES', meaning: 'with create: the requested scopes, separated by spaces' },
    'authorization-url': { value: 'URL', meaning: 'with create: the authorization endpoint' },
    'token-url': { value: 'URL', meaning: 'with create: the token endpoint' },
    'userinfo-url': {
      value: 'URL',
      meaning: 'with create: the endpoint with the profile of a user',
    },
    yes: { meaning: 'with delete: do not ask for confirmation; needed without a terminal' },
  },
})
