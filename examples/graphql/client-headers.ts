import { createClient } from '@portcullis/graphql-over-http/client'

const port = Number(process.env.PORT ?? 4000)

/** A placeholder for your session, which may have to be fetched or refreshed. */
async function getSession(): Promise<{ token: string } | undefined> {
  const token = process.env.TOKEN
  return token ? { token } : undefined
}

const client = createClient({
  url: `http://localhost:${port}/graphql`,
  headers: async () => {
    const session = await getSession()
    if (session) return { Authorization: `Bearer ${session.token}` }
  },
})

// With auth-early.ts or auth-context.ts running: TOKEN=letmein node examples/graphql/client-headers.ts
try {
  console.log(JSON.stringify(await client.execute({ query: '{ viewer }' })))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
