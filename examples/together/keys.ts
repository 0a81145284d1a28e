// A program that calls the API with API keys, one without a plan and two of the plan `pro`.

import { createClient } from '@portcullis/graphql-over-http/client'

const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const url = `${process.env.API_URL ?? 'http://localhost:4000'}/graphql`

async function post(path: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(authUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env.AUTH_ADMIN_KEY}`,
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return await response.json()
}

/**
 * Creates an API key and exchanges it for an access token.
 * @returns the token, which is valid for five minutes.
 */
async function openKey(name: string, plan?: string): Promise<string> {
  // The owner of the key: a program, not a user.
  const { id } = await post('/admin/service-accounts', { name })
  const key = await post('/admin/api-keys', { service_account_id: id, name, plan })
  const token = await post('/token?grant_type=api_key', { api_key: key['api_key'] })
  return token['access_token'] ?? ''
}

/** @returns the limit of the caller, or why the request was refused. */
async function sendQuery(token: string): Promise<string> {
  let limit: string | null = null
  const client = createClient({
    url,
    headers: { authorization: `Bearer ${token}` },
    acceptGraphQLErrors: true,
    // Reads the header of the response.
    fetchFn: async (input, init) => {
      const response = await fetch(input, init)
      limit = response.headers.get('ratelimit-limit')
      return response
    },
  })
  const { errors } = await client.execute({ query: '{ hello }' })
  const [error] = errors ?? []
  return error ? `${error.extensions?.['status']} ${error.message}` : `${limit} requests a minute`
}

const nightly = await openKey('nightly')
const first = await openKey('first', 'pro')
const second = await openKey('second', 'pro')
console.log(`key without a plan: ${await sendQuery(nightly)}`)
console.log(`first key of the plan pro: ${await sendQuery(first)}`)

let last = ''
let count = 0
// A new minute may begin meanwhile, and then more requests are allowed.
while (!last.startsWith('429') && count < 500) {
  last = await sendQuery(first)
  count++
}
console.log(`first key, after ${count} more requests: ${last}`)
console.log(`second key of the plan pro: ${await sendQuery(second)}`)
