import { createClient, type RequestParams, type Sink } from '@portcullis/graphql-over-http/client'
import type { ExecutionResult } from 'graphql'

/** The smallest class with the shape of the ECMAScript proposal; RxJS and others have it too. */
class Observable<T> {
  readonly #subscriber: (observer: Sink<T>) => () => void

  constructor(subscriber: (observer: Sink<T>) => () => void) {
    this.#subscriber = subscriber
  }

  subscribe(observer: Sink<T>): { unsubscribe(): void } {
    return { unsubscribe: this.#subscriber(observer) }
  }
}

const port = Number(process.env.PORT ?? 4000)
const client = createClient({ url: `http://localhost:${port}/graphql` })

/** Each subscription sends the request; unsubscribing cancels it. */
const toObservable = <Data>(request: RequestParams) =>
  new Observable<ExecutionResult<Data>>((observer) => client.subscribe<Data>(request, observer))

toObservable<{ hello: string }>({ query: '{ hello }' }).subscribe({
  next: (result) => console.log(result.data?.hello),
  error: (error) => console.error(error),
  complete: () => console.log('complete'),
})
