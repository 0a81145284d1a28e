const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** 50 users with 3 posts each: 12.8 kB as JSON. */
export const users = times(50, (user) => ({
  id: `user-${user + 100}`,
  name: `Grace B. M. Hopper the ${user + 100}th`,
  email: `grace.hopper.${user + 100}@example.org`,
  posts: times(3, (post) => ({
    id: `post-${user + 100}-${post}`,
    title: `Nanoseconds, part ${post + 1}`,
  })),
}))

export type QueryName = 'hello' | 'list'

interface Query {
  readonly title: string
  readonly document: string
  /** The expected data. Every contender's response is compared with it before the measurement. */
  readonly data: object
}

export const queries: { readonly [name in QueryName]: Query } = {
  hello: { title: 'one field', document: '{ hello }', data: { hello: 'world' } },
  list: {
    title: '50 users with 3 posts each',
    document: '{ users { id name email posts { id title } } }',
    data: { users },
  },
}

/** The body of the POST request, as clients send it. */
export function toRequestBody(name: QueryName): string {
  return JSON.stringify({ query: queries[name].document })
}

/** The body of the response; contenders may order the keys differently. */
export function toResponseBody(name: QueryName): string {
  return JSON.stringify({ data: queries[name].data })
}
