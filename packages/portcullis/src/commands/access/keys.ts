import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { ApiKey, NewApiKey, ServiceAccount } from '../../console/routes/access-items.ts'
import type { AdminClient } from '../admin/client.ts'
import { createAdminCommand } from '../admin/command.ts'
import { createPaint, type Fact, toSafe, toTable, toTime } from '../admin/text.ts'
import {
  type AdminInput,
  type AdminVerb,
  createClient,
  requireConsent,
  toText,
} from '../admin/verb.ts'
import { getUser } from '../users/verb.ts'
import { parseDays } from './durations.ts'
import { findNamed, listAll, noEndpoint } from './items.ts'
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
    const { values, io } = input
    const admin = createClient(input)
    const owner = await findOwner(admin, values)
    const keys = await listAll<ApiKey>(admin, keysPath, 'api_keys', owner)
    if (values.json) for (const key of keys) io.stdout.write(`${JSON.stringify(key)}\n`)
    else if (keys.length > 0) io.stdout.write(toKeyTable(keys, await listAccounts(admin), io))
    else io.stderr.write('There are no API keys.\n')
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
    if (key === undefined) throw noEndpoint(keysPath)
    printKey(input, key as NewApiKey)
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
    if (key === undefined) throw noEndpoint(keysPath)
    printKey(input, key as NewApiKey)
  },
}

const revoke: KeysVerb = {
  synopsis: 'KEY [--yes]',
  summary: 'revoke a key and its tokens',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const admin = createClient(input)
    const key = await getKey(admin, positionals[0] ?? '')
    await requireConsent(input, `Revoke ${toName(key)} and its tokens? This cannot be undone.`)
    await admin.delete(`${keysPath}/${key.id}`)
    io.stdout.write(values.json ? `${JSON.stringify(key)}\n` : `${toName(key)} was revoked\n`)
  },
}

const accounts: KeysVerb = {
  synopsis: '',
  summary: 'list the service accounts, which have keys and are not users',
  takes: [0, 0],
  options: [],
  async run(input) {
    const { values, io } = input
    const found = await listAccounts(createClient(input))
    if (values.json) for (const account of found) io.stdout.write(`${JSON.stringify(account)}\n`)
    else if (found.length === 0) io.stderr.write('There are no service accounts.\n')
    else {
      const rows = found.map(({ id, name, role, plan, created_at: created }) => [
        id,
        toSafe(name),
        toSafe(role),
        toSafe(plan ?? '-'),
        toTime(created),
      ])
      const headings = ['ID', 'NAME', 'ROLE', 'PLAN', 'CREATED (UTC)']
      io.stdout.write(toTable(headings, rows, createPaint(io)))
    }
  },
}

const createAccount: KeysVerb = {
  synopsis: 'NAME [--role ROLE] [--plan PLAN]',
  summary: 'create a service account',
  takes: [1, 1],
  options: ['role', 'plan'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const { role, plan } = values
    const created = await createClient(input).post(accountsPath, {
      name: positionals[0],
      ...(role !== undefined && { role }),
      ...(plan !== undefined && { plan }),
    })
    if (created === undefined) throw noEndpoint(accountsPath)
    const account = created as ServiceAccount
    io.stdout.write(
      values.json ? `${JSON.stringify(account)}\n` : `${toName(account)} was created\n`,
    )
  },
}

const deleteAccount: KeysVerb = {
  synopsis: 'ACCOUNT [--yes]',
  summary: 'delete a service account, and revoke its keys; ACCOUNT is an id or a name',
  takes: [1, 1],
  options: ['yes'],
  operands: 'any',
  async run(input) {
    const { positionals, values, io } = input
    const admin = createClient(input)
    const account = await getAccount(admin, positionals[0] ?? '')
    await requireConsent(
      input,
      `Delete ${toName(account)} and revoke its keys? This cannot be undone.`,
    )
    await admin.delete(`${accountsPath}/${account.id}`)
    io.stdout.write(
      values.json ? `${JSON.stringify(account)}\n` : `${toName(account)} was deleted\n`,
    )
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

async function listAccounts(admin: AdminClient): Promise<readonly ServiceAccount[]> {
  const answer = Object(await admin.get(accountsPath))
  const found: unknown = answer.service_accounts
  if (!Array.isArray(found)) throw noEndpoint(accountsPath)
  return found
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
  const facts: readonly Fact[] = [
    ['id', id],
    ['name', toSafe(name)],
    ['expires', expiry === null ? 'never' : `${toTime(expiry)} UTC`],
    ['key', text],
  ]
  printSecret(input, key, facts)
}

function toKeyTable(
  keys: readonly ApiKey[],
  owners: readonly ServiceAccount[],
  io: Input['io'],
): string {
  const names = new Map(owners.map(({ id, name }) => [id, name]))
  const rows = keys.map((key) => [
    key.id,
    toSafe(key.name),
    `…${key.hint}`,
    toSafe(key.user_id ?? names.get(key.service_account_id ?? '') ?? '-'),
    toSafe(key.scopes.join(' ') || '-'),
    key.expires_at === null ? 'never' : toTime(key.expires_at),
    toTime(key.last_used_at),
  ])
  const headings = ['ID', 'NAME', 'KEY', 'OWNER', 'SCOPES', 'EXPIRES (UTC)', 'LAST USED (UTC)']
  return toTable(headings, rows, createPaint(io))
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
