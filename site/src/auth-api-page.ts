import { endpoints } from '../../packages/auth/src/features/index.ts'
import { toOpenApi } from '../../packages/auth/src/http/openapi.ts'
import { type Schema, toFieldTable, toTable } from './schema-table.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly description?: string
  readonly schema: Schema
}

interface Operation {
  readonly summary: string
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: { readonly Error: Schema } }
}

/** The document that a server of this version serves at /openapi.json. */
export function createOpenApiDocument(version: string): object {
  const described = endpoints.filter(({ path }) => path !== '/openapi.json')
  return toOpenApi(described, version, 'https://auth.example.com')
}

/** The first pattern that matches a path decides under which heading it is shown. */
const topics: readonly (readonly [heading: string, paths: RegExp])[] = [
  ['Administration', /^\/(?:admin|invite)/],
  ['Second factors', /^\/factors/],
  ['Passkeys', /^\/passkeys/],
  ['OAuth server', /^\/(?:oauth|user\/oauth|\.well-known\/(?:oauth|openid))/],
  ['Single sign-on', /^\/sso/],
  ['SCIM', /^\/scim/],
  ['API keys', /^\/(?:api-keys|user\/api-keys)/],
  ['Verification for your APIs', /^\/(?:revocations|ext-authz|\.well-known\/jwks)/],
  ['Providers and identities', /^\/(?:authorize|callback|user\/identities)/],
  ['The signed-in user', /^\/(?:user|logout|reauthenticate)/],
  ['The server', /^\/(?:health|ready|settings|openapi|\.well-known)/],
  ['Sign-up, sign-in and recovery', /^\//],
]

/** Renders the OpenAPI document of the auth server as Markdown. */
export function toAuthApiPage(document: object): string {
  const { paths, components } = document as OpenApi
  const chapters = new Map<string, string[]>(topics.toReversed().map(([heading]) => [heading, []]))
  for (const [path, operations] of Object.entries(paths)) {
    const topic = topics.find(([, pattern]) => pattern.test(path))?.[0] ?? ''
    for (const [method, operation] of Object.entries(operations)) {
      chapters.get(topic)?.push(toChapter(`${method.toUpperCase()} ${path}`, operation))
    }
  }
  return `# HTTP API of the auth server

Every endpoint with its parameters, generated from [the OpenAPI document](/openapi.json) that the server also
serves at \`/openapi.json\`. [Endpoints and errors](/auth/endpoints-and-errors) has the same as one table, and
every error code.

## Errors

Every endpoint can answer with an error in this form:

${toFieldTable(components.schemas.Error)}

${[...chapters].map(([heading, parts]) => `## ${heading}\n\n${parts.join('\n\n')}`).join('\n\n')}
`
}

function toChapter(name: string, operation: Operation): string {
  const { summary, security, parameters, requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const [line = ''] = name.split('?')
  const [caller] = security.flatMap((scheme) => Object.keys(scheme))
  const credentials = caller === 'client' ? 'Basic CREDENTIALS' : 'Bearer TOKEN'
  const request = [
    line,
    ...(caller === undefined ? [] : [`Authorization: ${credentials}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json']),
  ]
  const fields = body && toFieldTable(body)
  return [
    `### ${name}`,
    `${summary}.`,
    `\`\`\`http\n${request.join('\n')}\n\`\`\``,
    `**Caller:** ${callers[caller ?? 'anyone'] ?? caller}`,
    ...(parameters.length > 0 ? [`**Parameters**\n\n${toParameterTable(parameters)}`] : []),
    ...(fields === undefined ? [] : [`**Body**\n\n${fields}`]),
    `**Response**\n\n${toTable(['status', 'content'], toResponses(responses))}`,
  ].join('\n\n')
}

const callers: Readonly<Record<string, string>> = {
  anyone: 'anyone',
  user: 'a user, with an access token',
  admin: 'an administrator: a token whose role is in `AUTH_JWT_ADMIN_ROLES`',
  scim: 'an identity provider, with a SCIM token',
  client: 'an OAuth client, with its identifier and secret',
  registration: 'an OAuth client that has registered itself, with its `registration_access_token`',
}

function toParameterTable(parameters: readonly Parameter[]): string {
  return toTable(
    ['parameter', 'in', 'description'],
    parameters.map(({ name, in: place, description, schema }) => [
      `\`${name}\``,
      place,
      description ?? schema.format ?? '–',
    ]),
  )
}

function toResponses(responses: Operation['responses']): string[][] {
  return Object.entries(responses).map(([status, { description }]) =>
    status === 'default' ? ['others', '[an error](#errors)'] : [status, description],
  )
}
