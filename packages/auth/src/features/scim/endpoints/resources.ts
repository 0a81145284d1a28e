import { ApiError } from '../../../errors.ts'
import type { Answer, Call } from '../../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { findUnstorable } from '../../../stored-json.ts'
import { requireServiceProvider } from '../../sso/sign-in.ts'
import {
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  patchScimGroup,
  replaceScimGroup,
} from '../groups.ts'
import { listGroups, listUsers } from '../lists.ts'
import { toResourceTypes, toSchemas, toServiceProviderConfig } from '../rules/discovery.ts'
import { toGroupResource } from '../rules/group-resource.ts'
import { type ListQuery, parseListQuery, toListResponse } from '../rules/list.ts'
import { isObject, type ScimObject } from '../rules/patch.ts'
import { toVersion } from '../rules/resource-version.ts'
import { scimError } from '../rules/scim-error.ts'
import { parseSelection, selectAttributes, selectionQuery } from '../rules/selection.ts'
import { toUserResource } from '../rules/user-resource.ts'
import { authenticateScim } from '../tokens.ts'
import {
  createScimUser,
  deleteScimUser,
  getScimUser,
  patchScimUser,
  replaceScimUser,
  type ScimContext,
} from '../users.ts'

const base = '/scim/v2'

/** What all endpoints of the SCIM API have in common. */
const common = {
  allowed: 'anyone',
  credential: 'scim',
  scim: true,
  requires: (services: Services) => void requireServiceProvider(services),
} as const satisfies Partial<Endpoint>

const listQuery = {
  filter: 'A filter of RFC 7644, such as userName eq "ada@company.com"',
  startIndex: 'Number of the first result, starting at 1',
  count: 'Results per page. Default: 100; maximum: 200',
  sortBy: 'Attribute to sort by. Default: the time of creation',
  sortOrder: 'ascending (the default) or descending',
  ...selectionQuery,
} as const

interface StoredRow {
  readonly updated_at: string
}

/** How a kind of resources is stored. */
interface ResourceKind<Row extends StoredRow> {
  readonly name: 'Users' | 'Groups'
  readonly noun: string
  readonly toResource: (row: Row, baseUrl: string) => ScimObject
  readonly list: (
    services: Services,
    context: ScimContext,
    query: ListQuery,
  ) => Promise<ReturnType<typeof toListResponse>>
  readonly get: (services: Services, context: ScimContext, id: string) => Promise<Row>
  readonly create: (services: Services, context: ScimContext, body: ScimObject) => Promise<Row>
  readonly replace: Change<Row>
  readonly patch: Change<Row>
  readonly remove: (services: Services, context: ScimContext, id: string) => Promise<void>
}

type Change<Row> = (
  services: Services,
  context: ScimContext,
  id: string,
  body: ScimObject,
) => Promise<Row>

function toEndpoints<Row extends StoredRow>(kind: ResourceKind<Row>): readonly Endpoint[] {
  const { name, noun } = kind
  const path = `${base}/${name}`
  const itemPath = `${path}/:id`
  const answer = (row: Row, context: ScimContext, { query }: Call, status = 200): Answer => {
    const resource = kind.toResource(row, context.baseUrl)
    const headers = { etag: toVersion(row.updated_at) }
    const location = `${context.baseUrl}/${name}/${resource['id']}`
    const more = status === 201 ? { ...headers, location } : headers
    const selected = selectAttributes(resource, parseSelection(query))
    return { ...toScimAnswer(selected, status), headers: more }
  }
  const change = async (call: Call, services: Services, apply: Change<Row>): Promise<Answer> => {
    const context = await toContext(call, services)
    // Before the change, so that a request with an invalid query changes nothing.
    parseSelection(call.query)
    const id = call.params['id'] ?? ''
    return answer(await apply(services, context, id, readBody(call.body)), context, call)
  }
  return [
    defineEndpoint({
      ...common,
      method: 'GET',
      path,
      summary: `SCIM: lists ${noun}s`,
      query: listQuery,
      success: { status: 200, description: 'A ListResponse' },
      async handle(call, services) {
        const context = await toContext(call, services)
        const selection = parseSelection(call.query)
        const list = await kind.list(services, context, parseListQuery(call.query))
        const resources = list.Resources.map((each) => selectAttributes(each, selection))
        return toScimAnswer({ ...list, Resources: resources })
      },
    }),
    defineEndpoint({
      ...common,
      method: 'POST',
      path,
      summary: `SCIM: creates a ${noun}`,
      query: selectionQuery,
      success: { status: 201, description: `The ${noun}` },
      async handle(call, services) {
        const context = await toContext(call, services)
        parseSelection(call.query)
        const row = await kind.create(services, context, readBody(call.body))
        return answer(row, context, call, 201)
      },
    }),
    defineEndpoint({
      ...common,
      method: 'GET',
      path: itemPath,
      summary: `SCIM: returns a ${noun}`,
      query: selectionQuery,
      success: { status: 200, description: `The ${noun}` },
      async handle(call, services) {
        const context = await toContext(call, services)
        return answer(await kind.get(services, context, call.params['id'] ?? ''), context, call)
      },
    }),
    defineEndpoint({
      ...common,
      method: 'PUT',
      path: itemPath,
      summary: `SCIM: replaces a ${noun}`,
      query: selectionQuery,
      success: { status: 200, description: `The ${noun}` },
      handle: (call, services) => change(call, services, kind.replace),
    }),
    defineEndpoint({
      ...common,
      method: 'PATCH',
      path: itemPath,
      summary: `SCIM: changes a ${noun}`,
      query: selectionQuery,
      success: { status: 200, description: `The ${noun}` },
      handle: (call, services) => change(call, services, kind.patch),
    }),
    defineEndpoint({
      ...common,
      method: 'DELETE',
      path: itemPath,
      summary: `SCIM: deletes a ${noun}`,
      success: { status: 204, description: `The ${noun} is deleted` },
      async handle(call, services) {
        const context = await toContext(call, services)
        await kind.remove(services, context, call.params['id'] ?? '')
        return { status: 204 }
      },
    }),
  ]
}

const users = toEndpoints({
  name: 'Users',
  noun: 'user',
  toResource: toUserResource,
  list: listUsers,
  get: getScimUser,
  create: createScimUser,
  replace: replaceScimUser,
  patch: patchScimUser,
  remove: deleteScimUser,
})

const groups = toEndpoints({
  name: 'Groups',
  noun: 'group',
  toResource: toGroupResource,
  list: listGroups,
  get: getScimGroup,
  create: createScimGroup,
  replace: replaceScimGroup,
  patch: patchScimGroup,
  remove: deleteScimGroup,
})

/** A document of RFC 7643 that describes the API. */
function toDiscovery(
  name: string,
  summary: string,
  describe: (call: Call, baseUrl: string) => object,
): Endpoint {
  return defineEndpoint({
    ...common,
    method: 'GET',
    path: `${base}/${name}`,
    summary: `SCIM: ${summary}`,
    success: { status: 200, description: 'A document of RFC 7643' },
    async handle(call, services) {
      const { baseUrl } = await toContext(call, services)
      if (call.query['filter']) {
        // RFC 7644, section 4.
        throw new ApiError('scim_request_invalid', `${name} cannot be filtered`, { status: 403 })
      }
      return toScimAnswer(describe(call, baseUrl))
    },
  })
}

interface Described extends ScimObject {
  readonly id: string
}

/** A list of documents, and each of them by its ID. */
function toDiscoveryList(
  name: string,
  noun: string,
  describe: (baseUrl: string) => readonly Described[],
): readonly Endpoint[] {
  return [
    toDiscovery(name, `lists the ${noun}s`, (_call, baseUrl) => {
      const documents = describe(baseUrl)
      return toListResponse(documents, documents.length, 1)
    }),
    toDiscovery(`${name}/:id`, `returns a ${noun}`, ({ params: { id = '' } }, baseUrl) => {
      const document = describe(baseUrl).find((each) => each.id.toLowerCase() === id.toLowerCase())
      if (document !== undefined) return document
      throw new ApiError('scim_resource_not_found', `There is no ${noun} ${id.slice(0, 100)}`)
    }),
  ]
}

export const scimEndpoints: readonly Endpoint[] = [
  ...users,
  ...groups,
  toDiscovery('ServiceProviderConfig', 'returns what is supported', (_call, baseUrl) =>
    toServiceProviderConfig(baseUrl),
  ),
  ...toDiscoveryList('ResourceTypes', 'resource type', toResourceTypes),
  ...toDiscoveryList('Schemas', 'schema', toSchemas),
]

function toScimAnswer(body: object, status = 200): Answer {
  return { status, body, contentType: 'application/scim+json' }
}

async function toContext(call: Call, services: Services): Promise<ScimContext> {
  const providerId = await authenticateScim(services, call.header('authorization'))
  const { audience, client, externalUrl } = call
  const baseUrl = `${externalUrl}${base}`
  return { providerId, audience, ip: client.ip, baseUrl, ifMatch: call.header('if-match') }
}

function readBody(body: unknown): ScimObject {
  if (!isObject(body)) throw scimError('invalidSyntax', 'The body must be a JSON object')
  const flaw = findUnstorable(body)
  if (flaw !== undefined) throw scimError('invalidValue', `The body ${flaw}`)
  return body
}
