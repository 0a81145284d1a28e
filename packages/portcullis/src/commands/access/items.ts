import { type AdminClient, AdminFailure } from '../admin/client.ts'

const pageSize = 1_000

/**
 * Lists the items on all pages of an endpoint.
 * @param field of the response that contains the items.
 * @throws {AdminFailure} if the server has no such endpoint.
 */
export async function listAll<Item>(
  client: AdminClient,
  path: string,
  field: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const range = { page: `${page}`, per_page: `${pageSize}` }
    const answer = Object(await client.get(path, { ...query, ...range }))
    const found: unknown = answer[field]
    if (!Array.isArray(found)) throw noEndpoint(path)
    items.push(...found)
    if (found.length < pageSize) return items
  }
}

/** Lists the items of an endpoint without pages. @throws {AdminFailure} if the server has no such endpoint. */
export async function listField<Item>(
  client: AdminClient,
  path: string,
  field: string,
): Promise<readonly Item[]> {
  const found: unknown = Object(await client.get(path))[field]
  if (Array.isArray(found)) return found
  throw noEndpoint(path)
}

/** @throws {AdminFailure} if the server has no such endpoint, and so has not answered. */
export function requireAnswer<Answer>(answer: unknown, path: string): Answer {
  if (answer === undefined) throw noEndpoint(path)
  return answer as Answer
}

function noEndpoint(path: string): AdminFailure {
  return new AdminFailure(
    `The server has no endpoint ${path}. Check that it is an auth server of this version.`,
  )
}

interface NamedItem {
  readonly id: string
  /** What people call it. */
  readonly names: readonly (string | undefined)[]
}

/**
 * Finds an item by its id or one of its names.
 * @param noun such as `client`.
 * @throws {AdminFailure} unless exactly one item matches.
 */
export function findNamed<Item>(
  items: readonly Item[],
  name: string,
  {
    noun,
    toNames,
    advice,
  }: {
    readonly noun: string
    readonly toNames: (item: Item) => NamedItem
    /** How to list the items. */
    readonly advice: string
  },
): Item {
  const byId = items.find((item) => toNames(item).id === name.toLowerCase())
  if (byId !== undefined) return byId
  const found = items.filter((item) => toNames(item).names.includes(name))
  const [first, second] = found
  if (first === undefined) throw new AdminFailure(`There is no ${noun} ${name}. ${advice}`)
  if (second === undefined) return first
  const ids = found.map((item) => toNames(item).id).join(', ')
  throw new AdminFailure(
    `There are ${found.length} of the name ${name}. Pass one of the ids: ${ids}`,
  )
}
