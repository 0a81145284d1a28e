// A client of the API: signed out, signed in, with a forged token, and over the limit.

import { createClient } from '@portcullis/graphql-over-http/client'
import { AuthClient } from '@supabase/auth-js'

const authUrl = process.env.AUTH_URL ?? 'http://localhost:8081'
const url = `${process.env.API_URL ?? 'http://localhost:4000'}/graphql`

async function runQuery(getToken?: () => Promise<string>): Promise<string> {
  const client = createClient({
    url,
    headers: async () => (getToken ? { authorization: `Bearer ${await getToken()}` } : {}),
    acceptGraphQLErrors: true,
  })
  const { data, errors } = await client.execute({ query: '{ me { id } }' })
  const [error] = errors ?? []
  return error ? `${error.extensions?.['status']} ${error.message}` : JSON.stringify(data)
}

/**
 * Signs an anonymous user in, because other users would first have to confirm an email address.
 * @returns a function that returns the access token, refreshed if necessary
 */
async function signIn(name: string): Promise<() => Promise<string>> {
  const auth = new AuthClient({ url: authUrl, autoRefreshToken: false, persistSession: false })
  const { data, error } = await auth.signInAnonymously({ options: { data: { name } } })
  if (error) throw error
  console.log(`${name} is signed in as ${data.user?.id}`)
  return async () => (await auth.getSession()).data.session?.access_token ?? ''
}

console.log(`signed out: ${await runQuery()}`)

const ada = await signIn('ada')
console.log(`ada: ${await runQuery(ada)}`)
console.log(`forged: ${await runQuery(async () => (await ada()).replace(/.{5}$/, 'AAAAA'))}`)

let last = ''
let count = 0
// A new minute may begin meanwhile, and then more requests are allowed.
while (!last.startsWith('429') && count < 100) {
  last = await runQuery(ada)
  count++
}
console.log(`ada, after ${count} more requests: ${last}`)

const bob = await signIn('bob')
console.log(`bob: ${await runQuery(bob)}`)
