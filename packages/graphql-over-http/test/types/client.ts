// Never run, only compiled. A line that must not compile is marked with the reason.
import type { ExecutionResult } from 'graphql'
import {
  type Client,
  createClient,
  NetworkError,
  type RequestParams,
  type ResponseLike,
  type Sink,
} from '../../src/index.ts'
import { type Equal, isTrue } from './equal.ts'

interface Hello {
  readonly hello: string
}
interface Trace {
  readonly took: number
}

const client: Client = createClient({
  url: 'http://localhost:4000/graphql',
  headers: async () => ({ authorization: 'Bearer token' }),
  shouldRetry: async (error, retries) => {
    isTrue<Equal<typeof retries, number>>()
    return error.response?.status === 503 && retries < 3
  },
})

// Results are generic in their data and extensions.
const cancel = client.subscribe<Hello, Trace>(
  { query: '{ hello }' },
  {
    next(result) {
      isTrue<Equal<typeof result, ExecutionResult<Hello, Trace>>>()
      isTrue<Equal<NonNullable<typeof result.data>, Hello>>()
      isTrue<Equal<NonNullable<typeof result.extensions>, Trace>>()
      // @ts-expect-error TS2339: not in the data
      return result.data?.goodbye
    },
    error(error) {
      isTrue<Equal<typeof error, unknown>>()
    },
    complete() {},
  },
)
isTrue<Equal<typeof cancel, () => void>>()

// Without type arguments, the data is a map of unknown values.
client.subscribe(
  { query: '{ hello }' },
  {
    next({ data }) {
      isTrue<Equal<NonNullable<typeof data>, Record<string, unknown>>>()
    },
    error() {},
    complete() {},
  },
)

export async function iterate(): Promise<string | undefined> {
  for await (const { data } of client.iterate<Hello>({ query: '{ hello }' })) return data?.hello
  const { data, extensions } = await client.execute<Hello, Trace>({ query: '{ hello }' })
  isTrue<Equal<typeof extensions, Trace | undefined>>()
  return data?.hello
}

export const sink: Sink<Hello> = { next: ({ hello }) => hello, error() {}, complete() {} }

// @ts-expect-error TS2741: a sink must have all three methods
export const halfASink: Sink<Hello> = { next() {}, error() {} }

// @ts-expect-error TS2741: the url is missing
createClient({})

export const params: RequestParams = { query: '{ hello }', variables: { a: 1 }, extensions: null }

// @ts-expect-error TS2322: variables are a map
export const listed: RequestParams = { query: '{ hello }', variables: 'a' }

// A NetworkError has the type of the response that it was created from.
const error = new NetworkError(new Response())
isTrue<Equal<typeof error.response, Response | undefined>>()
export const least: NetworkError['response'] = { ok: false, status: 503, statusText: '' }
isTrue<Equal<NetworkError['response'], ResponseLike | undefined>>()
