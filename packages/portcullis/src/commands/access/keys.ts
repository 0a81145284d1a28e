import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { ApiKey, NewApiKey, ServiceAccount } from '../../console/routes/access-items.ts'
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
import { getUser } from '../users/verb.ts'
import { parseDays } from './durations.ts'
import { findNamed, listAll, listField, requireAnswer } from './items.ts'
import { findOverlapFault, overlapOption, printSecret, toSeconds } from './secrets.ts'

type Option = 'user' | 'account' | 'scope' | 'expires' | 'plan' | 'role' | 'overlap' | 'yes'
type Input = AdminInput<Option>
type KeysVerb = AdminVerb<Option>

const keysPath = '/admin/api-keys'
const accountsPath = '/admin/service-accounts'

const list: KeysVerb = {
  synopsis: '[--user USER | --account ACCOUNT]',
  summary: 'list all keys, or those of one owner',
  takes: [0, 0],
  options: ['user', 'account'],
  findFault: ({ values }) =>
    values.user !== undefined && values.account !== undefined ? twoOwners : undefined,
  async run(input) {
    const admin = createClient(input)
    const owner = await findOwner(admin, input.values)
    const found = await listAll<ApiKey>(admin, keysPath, 'api_keys', owner)
    // Only the table shows names.
    const owners = input.values.json ? [] : await listAccounts(admin)
    const names = new Map(owners.map(({ id, name }) => [id, name]))
    printList(input, found, {
      headings: ['ID', 'NAME', 'KEY', 'OWNER', 'SCOPES', 'EXPIRES (UTC)', 'LAST USED (UTC)'],
      toRow: (key) => [
        key.id,
        toSafe(key.name),
        `…${key.hint}`,
        toSafe(key.user_id ?? names.get(key.service_account_id ?? '') ?? '-'),
        toSafe(key.scopes.join(' ') || '-'),
        key.expires_at === null ? 'never' : toTime(key.expires_at),
        toTime(key.last_used_at),
      ],
      none: 'There are no API keys.',
    })
  },
}

const defaultExpiry = '90d'

const create: KeysVerb = {
  synopsis: 'NAME --account ACCOUNT | --user USER [OPTION…]',
  summary: 'create a key, and print its text',
  takes: [1, 1],
  options: ['user', 'account', 'scope', 'expires', 'plan'],
  operands: 'any',
  findFault({ values }) {
    const { user, account, expires = defaultExpiry } = values
    if (user !== undefined && account !== undefined) return twoOwners
    if (user === undefined && account === undefined) {
      return 'The owner is missing: pass --account ACCOUNT or --user USER.'
    }
    if (expires === 'never' || (parseDays(`${expires}`) ?? 0) > 0) return undefined
    return toValueFault('--expires', 'a duration such as 90d, or never', `${expires}`)
  },
  async run(input) {
    const { positionals, values } = input
    const admin = createClient(input)
    const expires = toText(values.expires) ?? defaultExpiry
    const key = await admin.post(keysPath, {
      name: positionals[0],
      ...(await findOwner(admin, values)),
      scopes: (toText(values.scope) ?? '').split(' ').filter(Boolean),
      ...(values.plan !== undefined && { plan: values.plan }),
      ...(expires !== 'never' && {
        expires_at: new Date(Date.now() + (parseDays(expires) ?? 0)).toISOString(),
      }),
    })
    printKey(input, requireAnswer(key, keysPath))
  },
}

const rotate: KeysVerb = {
  synopsis: 'KEY [--overlap DURATION]',
  summary: 'replace the secret of a key, and print the new text; KEY is an id or\na name',
  takes: [1, 1],
  options: ['overlap'],
  operands: 'any',
  findFault: ({ values }) => findOverlapFault(toText(values.overlap) ?? '0'),
  async run(input) {
    const { positionals, values } = input
    const admin = createClient(input)
    const { id } = await getKey(admin, positionals[0] ?? '')
    const body = { overlap_seconds: toSeconds(toText(values.overlap) ?? '0') }
    const key = await admin.post(`${keysPath}/${id}/rotate`, body)
    printKey(input, requireAnswer(key, keysPath))
  },
}

const revoke: KeysVerb = {
  synopsis: 'KEY [--yes]',
  summary: 'revoke a key and its tokens',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const key = await getKey(admin, input.positionals[0] ?? '')
    await requireConsent(input, `Revoke ${toName(key)} and its tokens? This cannot be undone.`)
    await admin.delete(`${keysPath}/${key.id}`)
    printItem(input, key, `${toName(key)} was revoked`)
  },
}

const accounts: KeysVerb = {
  synopsis: '',
  summary: 'list the service accounts, which have keys and are not users',
  takes: [0, 0],
  options: [],
  async run(input) {
    printList(input, await listAccounts(createClient(input)), {
      headings: ['ID', 'NAME', 'ROLE', 'PLAN', 'CREATED (UTC)'],
      toRow: ({ id, name, role, plan, created_at: created }) => [
        id,
        toSafe(name),
        toSafe(role),
        toSafe(plan ?? '-'),
        toTime(created),
      ],
      none: 'There are no service accounts.',
    })
  },
}

const createAccount: KeysVerb = {
  synopsis: 'NAME [--role ROLE] [--plan PLAN]',
  summary: 'create a service account',
  takes: [1, 1],
  options: ['role', 'plan'],
  operands: 'any',
  async run(input) {
    const { positionals, values } = input
    const { role, plan } = values
    const created = await createClient(input).post(accountsPath, {
      name: positionals[0],
      ...(role !== undefined && { role }),
      ...(plan !== undefined && { plan }),
    })
    const account = requireAnswer<ServiceAccount>(created, accountsPath)
    printItem(input, account, `${toName(account)} was created`)
  },
}

const deleteAccount: KeysVerb = {
  synopsis: 'ACCOUNT [--yes]',
  summary: 'delete a service account, and revoke its keys; ACCOUNT is an id or a name',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const admin = createClient(input)
    const account = await getAccount(admin, input.positionals[0] ?? '')
    await requireConsent(
      input,
      `Delete ${toName(account)} and revoke its keys? This cannot be undone.`,
    )
    await admin.delete(`${accountsPath}/${account.id}`)
    printItem(input, account, `${toName(account)} was deleted`)
  },
}

const twoOwners = 'Pass either --user or --account, not both.'

async function findOwner(
  admin: AdminClient,
  { user, account }: Input['values'],
): Promise<Readonly<Record<string, string>>> {
  if (user !== undefined) return { user_id: (await getUser(admin, `${user}`)).id }
  if (account === undefined) return {}
  return { service_account_id: (await getAccount(admin, `${account}`)).id }
}

function listAccounts(admin: AdminClient): Promise<readonly ServiceAccount[]> {
  return listField(admin, accountsPath, 'service_accounts')
}

async function getAccount(admin: AdminClient, name: string): Promise<ServiceAccount> {
  return findNamed(await listAccounts(admin), name, {
    noun: 'service account',
    toNames: ({ id, name: own }) => ({ id, names: [own] }),
    advice: 'To list all: portcullis keys accounts',
  })
}

async function getKey(admin: AdminClient, name: string): Promise<ApiKey> {
  return findNamed(await listAll<ApiKey>(admin, keysPath, 'api_keys'), name, {
    noun: 'API key',
    toNames: ({ id, name: own }) => ({ id, names: [own] }),
    advice: 'To list all: portcullis keys list',
  })
}

function toName({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${toSafe(name)} (${id})`
}

function printKey(input: Input, key: NewApiKey): void {
  const { id, name, api_key: text, expires_at: expiry } = key
  printSecret(input, key, [
    ['id', id],
    ['name', toSafe(name)],
    ['expires', expiry === null ? 'never' : `${toTime(expiry)} UTC`],
    ['key', text],
  ])
}

export const keys = createAdminCommand<Option>({
  name: 'keys',
  summary: 'create, rotate and revoke the API keys of programs',
  about: 'Manages the API keys of users and service accounts on an auth server.',
  note: 'auth keys manages other keys: those that encrypt the secrets in the database.',
  verbs: {
    list,
    create,
    rotate,
    revoke,
    accounts,
    'create-account': createAccount,
    'delete-account': deleteAccount,
  },
  own: {
    account: {
      value: 'ACCOUNT',
      meaning: 'the service account that owns the key: an id or a name',
    },
    user: {
      value: 'USER',
      meaning: 'the user who owns the key: an id, an email address or a phone number',
    },
    scope: { value: 'SCOPES', meaning: 'with create: what the key allows, separated by spaces' },
    expires: {
      value: 'DURATION',
      meaning: `with create: lifetime such as 90d, or never; default: ${defaultExpiry}`,
    },
    plan: {
      value: 'PLAN',
      meaning: 'with create and create-account: the plan, for rate limits',
    },
    role: { value: 'ROLE', meaning: 'with create-account: the role in its tokens' },
    overlap: overlapOption,
    yes: {
      meaning:
        'with revoke and delete-account: do not ask for confirmation; needed without a terminal',
    },
  },
})
