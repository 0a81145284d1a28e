import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@portcullis/graphql-over-http/client'

const port = Number(process.env.PORT ?? 4000)

const client = createClient({
  url: `http://localhost:${port}/graphql`,
  shouldRetry: async (error, retries) => {
    if (retries >= 3) return false
    // Other failures are permanent, so they are not retried.
    if (error.response?.status !== 503) return false
    await sleep(1000)
    return true
  },
})

try {
  console.log(JSON.stringify(await client.execute({ query: '{ hello }' })))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
