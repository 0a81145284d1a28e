import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { createKey, getOwnKeys, requireKeyOwner, revokeKey, rotateKey } from '../keys.ts'
import { keyFields, readKeyId, readOverlap, rotation, secretOnce } from './fields.ts'

const path = '/user/api-keys'
const keyPath = `${path}/:key_id`

export const listOwnKeys = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the API keys of the signed-in user',
  allowed: 'user',
  success: { status: 200, description: 'An array of keys, oldest first, without their texts' },
  async handle({ caller }, services) {
    return json(await getOwnKeys(services, caller))
  },
})

export const createOwnKey = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Creates an API key for the signed-in user',
  allowed: 'user',
  body: Type.Object(keyFields),
  success: { status: 201, description: `The key. ${secretOnce}` },
  async handle({ body, caller, client }, services) {
    requireKeyOwner(services, caller)
    const { name, scopes, expires_at } = body
    const fields = {
      user_id: caller.id,
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...(expires_at !== undefined && { expires_at }),
    }
    return {
      status: 201,
      body: await createKey(services, fields, { user: caller, ip: client.ip }),
    }
  },
})

export const rotateOwnKey = defineEndpoint({
  method: 'POST',
  path: `${keyPath}/rotate`,
  summary: 'Replaces the secret of an API key of the signed-in user',
  allowed: 'user',
  body: rotation,
  success: { status: 200, description: `The key. ${secretOnce}` },
  async handle({ body, params, caller, client }, services) {
    requireKeyOwner(services, caller)
    const manager = { user: caller, ip: client.ip }
    return json(await rotateKey(services, readKeyId(params), readOverlap(body), manager))
  },
})

export const revokeOwnKey = defineEndpoint({
  method: 'DELETE',
  path: keyPath,
  summary: 'Revokes an API key of the signed-in user, and its tokens',
  allowed: 'user',
  success: { status: 204, description: 'The key was revoked' },
  async handle({ params, caller, client }, services) {
    requireKeyOwner(services, caller)
    await revokeKey(services, readKeyId(params), { user: caller, ip: client.ip })
    return noContent
  },
})
