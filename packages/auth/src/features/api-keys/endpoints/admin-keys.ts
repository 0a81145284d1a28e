import { invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parsePage, toPageHeaders } from '../../../http/pages.ts'
import { Type } from '../../../http/schema.ts'
import { parseAddress } from '../../../http/stages/client-address.ts'
import { toAdministrator } from '../../audit/admin-action.ts'
import { verifierRole } from '../../revocations/endpoints.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { createKey, getKeys, revokeKey, rotateKey } from '../keys.ts'
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccounts,
} from '../service-accounts.ts'
import { toActiveKey } from '../use-key.ts'
import { findKeyForService } from '../verify-key.ts'
import { keyFields, readKeyId, readOverlap, rotation, secretOnce } from './fields.ts'

const path = '/admin/api-keys'
const keyPath = `${path}/:key_id`
const accountsPath = '/admin/service-accounts'

const plan = Type.Optional(
  Type.String({ description: 'The claim plan, for rate limits. Default: that of the owner' }),
)

export const adminListKeys = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the API keys of all users and service accounts',
  allowed: 'admin',
  query: {
    page: 'Page number, starting at 1',
    per_page: 'Keys per page. Default: 50',
    user_id: 'Only the keys of this user',
    service_account_id: 'Only the keys of this service account',
  },
  success: { status: 200, description: 'api_keys, newest first, without their texts' },
  async handle({ query }, services) {
    const page = parsePage(query)
    const owner = {
      userId: readId(query, 'user_id'),
      serviceAccountId: readId(query, 'service_account_id'),
    }
    const { keys, total } = await getKeys(services, owner, page)
    return json({ api_keys: keys }, toPageHeaders(path, page, total))
  },
})

export const adminCreateKey = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Creates an API key for a user or a service account',
  allowed: 'admin',
  body: Type.Object({
    ...keyFields,
    user_id: Type.Optional(Type.String()),
    service_account_id: Type.Optional(Type.String()),
    plan,
  }),
  success: { status: 201, description: `The key. ${secretOnce}` },
  async handle(call, services) {
    const { body } = call
    for (const id of [body.user_id, body.service_account_id]) {
      if (id !== undefined && !uuidPattern.test(id)) throw invalid('The owner must be a UUID')
    }
    return { status: 201, body: await createKey(services, body, toAdministrator(call)) }
  },
})

export const adminRotateKey = defineEndpoint({
  method: 'POST',
  path: `${keyPath}/rotate`,
  summary: 'Replaces the secret of an API key',
  allowed: 'admin',
  body: rotation,
  success: { status: 200, description: `The key. ${secretOnce}` },
  async handle(call, services) {
    const { body, params } = call
    const admin = toAdministrator(call)
    return json(await rotateKey(services, readKeyId(params), readOverlap(body), admin))
  },
})

export const adminRevokeKey = defineEndpoint({
  method: 'DELETE',
  path: keyPath,
  summary: 'Revokes an API key and its tokens',
  allowed: 'admin',
  success: { status: 204, description: 'The key was revoked' },
  async handle(call, services) {
    await revokeKey(services, readKeyId(call.params), toAdministrator(call))
    return noContent
  },
})

export const adminListServiceAccounts = defineEndpoint({
  method: 'GET',
  path: accountsPath,
  summary: 'Lists the service accounts',
  allowed: 'admin',
  success: { status: 200, description: 'service_accounts, oldest first, at most 1000' },
  async handle(_call, services) {
    return json({ service_accounts: await getServiceAccounts(services) })
  },
})

export const adminCreateServiceAccount = defineEndpoint({
  method: 'POST',
  path: accountsPath,
  summary: 'Creates a service account, which has API keys and is not a user',
  allowed: 'admin',
  body: Type.Object({
    name: Type.Optional(Type.String({ description: '1 to 120 characters' })),
    role: Type.Optional(
      Type.String({ description: 'The role in its tokens. Default: service_account' }),
    ),
    plan,
  }),
  success: { status: 201, description: 'The service account' },
  async handle(call, services) {
    const admin = toAdministrator(call)
    return { status: 201, body: await createServiceAccount(services, call.body, admin) }
  },
})

export const adminDeleteServiceAccount = defineEndpoint({
  method: 'DELETE',
  path: `${accountsPath}/:service_account_id`,
  summary: 'Deletes a service account, and revokes its keys and their tokens',
  allowed: 'admin',
  success: { status: 204, description: 'The service account was deleted' },
  async handle(call, services) {
    const id = readId(call.params, 'service_account_id') ?? ''
    await deleteServiceAccount(services, id, toAdministrator(call))
    return noContent
  },
})

export const verifyKey = defineEndpoint({
  method: 'POST',
  path: '/api-keys/verify',
  summary: 'Verifies an API key, for services that receive keys from their callers',
  allowed: 'admin',
  moreRoles: [verifierRole],
  body: Type.Object({
    api_key: Type.Optional(Type.String()),
    ip_address: Type.Optional(
      Type.String({ description: 'The address of the client that has sent the key' }),
    ),
  }),
  success: {
    status: 200,
    description: 'active, and for a valid key its key_id, sub, role, scopes, plan and expires_at',
  },
  async handle({ body, header }, services) {
    if (body.api_key === undefined) throw invalid('api_key is required')
    const key = await findKeyForService(services, {
      text: body.api_key,
      clientIp: body.ip_address === undefined ? undefined : readAddress(body.ip_address),
      callerToken: (header('authorization') ?? '').slice('Bearer '.length),
    })
    return json(key === undefined ? { active: false } : toActiveKey(key))
  },
})

/** A service that listens on `::` sees the addresses of IPv4 clients as IPv6. @throws {ApiError} */
function readAddress(text: string): string {
  const address = parseAddress(text)
  if (address === undefined) throw invalid('ip_address must be an address')
  return address
}

/** @throws {ApiError} */
function readId(query: Readonly<Record<string, string | undefined>>, name: string): string | null {
  const id = query[name] || null
  if (id === null || uuidPattern.test(id)) return id
  throw invalid(`${name} must be a UUID`)
}
