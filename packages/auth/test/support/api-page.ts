import { errorStatuses } from '../../src/errors.ts'
import { endpoints } from '../../src/features/index.ts'
import type { Allowed, Credential, Endpoint } from '../../src/http/endpoint.ts'
import { errorMeanings } from './error-meanings.ts'

const callers: Readonly<Record<Allowed, string>> = {
  anyone: 'anyone',
  user: 'user',
  'former user': 'user, even after sign-out',
  admin: 'admin',
}

const programs: Readonly<Record<Credential, string>> = {
  scim: 'SCIM token',
  client: 'OAuth client',
  registration: 'registration token',
}

/** Renders docs/auth-api.md from the route table and the error table. */
export function toApiPage(): string {
  return `# Endpoints and errors of the auth server

Generated from the code by \`UPDATE_DOCS=1 npm test -- packages/auth/test/docs.test.ts\`. A running
server serves the same description at \`/openapi.json\` (OpenAPI 3.1).

## Endpoints

*user* means an access token in \`Authorization: Bearer …\`; *admin* means a token whose role is in
\`AUTH_JWT_ADMIN_ROLES\`; *OAuth client* means its identifier and secret; the other tokens are sent as \`Bearer\`, too.
Fields in italics are query parameters; the others are fields of the JSON body.

| endpoint | caller | description | parameters | response |
|---|---|---|---|---|
${endpoints.map(toRow).join('\n')}

## Errors

Without a version header the body is \`{"code": 400, "error_code": "…", "msg": "…"}\`; with
\`X-Supabase-Api-Version: 2024-01-01\` it is \`{"code": "…", "message": "…", "msg": "…"}\`. The code is also
in the \`X-Sb-Error-Code\` header. An endpoint may respond with another status than the usual one. For
server errors (500 and above), \`error_id\` identifies the entries in the log.

| code | usual status | when |
|---|---|---|
${Object.entries(errorStatuses)
  .map(([code, status]) => `| \`${code}\` | ${status} | ${errorMeanings[code] ?? ''} |`)
  .join('\n')}
`
}

function toRow(endpoint: Endpoint): string {
  const {
    method,
    path,
    allowed,
    credential,
    summary,
    query = {},
    body,
    captcha,
    success,
  } = endpoint
  const takes = [
    ...Object.keys(query).map((name) => `*${name}*`),
    ...findFields(body).map((name) => `\`${name}\``),
    ...(captcha === undefined ? [] : ['`captcha_token`']),
  ]
  const cells = [
    `\`${method} ${path}\``,
    credential === undefined ? callers[allowed] : programs[credential],
    summary,
    takes.join(', ') || '–',
    `${success.status}: ${success.description}`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

function findFields(schema: Schema | undefined): string[] {
  if (schema === undefined) return []
  const { properties = {}, anyOf = [], allOf = [] } = schema
  return [...new Set([...Object.keys(properties), ...[...anyOf, ...allOf].flatMap(findFields)])]
}
