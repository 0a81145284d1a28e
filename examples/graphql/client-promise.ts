import { createClient, type RequestParams } from '@portcullis/graphql-over-http/client'
import type { ExecutionResult } from 'graphql'

const port = Number(process.env.PORT ?? 4000)
const client = createClient({ url: `http://localhost:${port}/graphql` })

/** Returns a request as a promise, and a function that cancels it. `client.execute` does the same. */
function toPromise<Data>(request: RequestParams) {
  let cancel = () => {}
  const result = new Promise<ExecutionResult<Data, unknown>>((resolve, reject) => {
    cancel = client.subscribe<Data>(request, {
      next: resolve,
      error: reject,
      // Called after `next`, without effect, or alone if the request was cancelled.
      complete: () => reject(new Error('The request was cancelled')),
    })
  })
  return { result, cancel }
}

const { result } = toPromise<{ hello: string }>({ query: '{ hello }' })
console.log((await result).data?.hello)

const late = toPromise({ query: '{ hello }' })
late.cancel()
await late.result.catch((error: Error) => console.log(error.message))
