// The client APIs, with the types of a browser: this file must compile without Node's types.

import {
  type AuditResult,
  auditServer,
  type Client,
  createClient,
  NetworkError,
  renderAuditResultsToHTML,
  renderAuditResultsToJSON,
  type Sink,
  serverAudits,
} from '@portcullis/graphql-over-http'
import { serverAudits as serverAuditsOnly } from '@portcullis/graphql-over-http/audits'
import {
  type ClientOptions,
  createClient as createClientOnly,
} from '@portcullis/graphql-over-http/client'
import type { ExecutionResult } from 'graphql'

interface Hello {
  readonly hello: string
}

const options: ClientOptions = {
  url: () => 'http://localhost:4000/graphql',
  headers: async () => ({ authorization: 'Bearer token' }),
  shouldRetry: (error, retries) => retries < 3 && error.response?.status === 503,
  fetchFn: fetch,
  abortControllerImpl: AbortController,
}
export const client: Client = createClientOnly(options)

export async function hello(): Promise<string | undefined> {
  const { data, extensions } = await client.execute<Hello, { cost: number }>({
    query: 'query Hello($n: Int) { hello }',
    operationName: 'Hello',
    variables: { n: 1 },
  })
  const cost: number | undefined = extensions?.cost
  // @ts-expect-error: the result has no such field
  void data?.missing
  return cost === 0 ? undefined : data?.hello
}

export const cancel: () => void = createClient(options).subscribe<Hello>(
  { query: '{ hello }' },
  {
    next: ({ data }) => console.log(data?.hello.toUpperCase()),
    error: (error) => error instanceof NetworkError && console.error(error.response?.status),
    complete: () => undefined,
  },
)

export async function iterate(sink: Sink<ExecutionResult<Hello, unknown>>): Promise<void> {
  for await (const result of client.iterate<Hello>({ query: '{ hello }' })) sink.next(result)
}

// @ts-expect-error: a request needs a query
client.execute({ variables: {} })

export async function audit(url: string): Promise<string> {
  for (const { id, name, fn } of serverAuditsOnly({ url, fetchFn: fetch })) {
    const result: AuditResult = await fn()
    if (result.status !== 'ok') console.error(id, name, result.reason)
  }
  const results = await auditServer({ url, profile: '2026', extended: true })
  return serverAudits({ url }).length > 0
    ? renderAuditResultsToHTML(results)
    : renderAuditResultsToJSON(results)
}
