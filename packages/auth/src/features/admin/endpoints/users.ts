import { parseEmail, parsePhone } from '../../../addresses.ts'
import { nilId } from '../../../db/nil-id.ts'
import type { Page } from '../../../db/statement.ts'
import { invalid } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { parseCount, parsePage, toPageHeaders } from '../../../http/pages.ts'
import { type Static, Type } from '../../../http/schema.ts'
import { formatNames } from '../../../passwords/formats/index.ts'
import type { Services } from '../../../services.ts'
import { checkText, toMetadata } from '../../../stored-json.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { parseAppMetadata, parseUserMetadata } from '../../users/metadata.ts'
import { getUser, toUserRecord } from '../../users/user-record.ts'
import { createUserAsAdmin } from '../create-user.ts'
import {
  filterParameters,
  listSelectedAfter,
  listSelectedPage,
  parseSelection,
  type UserSelection,
} from '../filter-users.ts'
import { listAfter, listPage, parseSort } from '../list-users.ts'
import { parseBan, removeUser, updateUserAsAdmin } from '../users.ts'

const path = '/admin/users'

export const adminListUsers = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the users of the audience, in pages',
  allowed: 'admin',
  query: {
    page: 'Page number, starting at 1',
    per_page: 'Users per page. Default: 50',
    filter:
      'Part of the email address, of full_name in the metadata or of the phone number, or at least the first 8 characters of the ID',
    sort: 'created_at asc, or created_at desc (the default)',
    limit: 'Instead of page: maximum number of users, up to 1000',
    cursor: 'Instead of page: next_cursor from the previous response',
    ...filterParameters,
  },
  success: {
    status: 200,
    description:
      'Users and audience, with the headers X-Total-Count and Link. The body has total if order_by or a parameter that selects users is given',
  },
  async handle({ query, audience }, services) {
    const { filter = '' } = query
    const direction = parseSort(query['sort'])
    const list = { audience, filter, direction }
    const selection = parseSelection(query)
    if (query['limit'] || query['cursor']) {
      const slice = {
        cursor: query['cursor'] ?? '',
        limit: parseCount('limit', query['limit'], 50, 1_000),
      }
      const { users, nextCursor } = selection
        ? await listSelectedAfter(services, { audience, ...selection }, slice)
        : await listAfter(services, list, slice)
      const pagination = {
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        has_more: nextCursor !== undefined,
      }
      return json({ users, aud: audience, pagination })
    }
    const page = parsePage(query)
    if (selection) return listSelected(query, { audience, ...selection }, page, services)
    const { users, total, isExact, nextCursor } = await listPage(services, list, page)
    const headers = toPageHeaders(path, page, total, {
      same: {
        ...(filter !== '' && { filter }),
        ...(query['sort'] && { sort: `created_at ${direction}` }),
      },
      ...(nextCursor !== undefined && { next: { limit: page.size, cursor: nextCursor } }),
      hasLast: isExact,
    })
    return json({ users, aud: audience }, headers)
  },
})

async function listSelected(
  query: Call['query'],
  selected: UserSelection & { readonly audience: string },
  page: Page,
  services: Services,
): Promise<Answer> {
  const { users, total } = await listSelectedPage(services, selected, page)
  const names = ['filter', 'sort', ...Object.keys(filterParameters)]
  const same = names.flatMap((name): [string, string][] => {
    const value = query[name]
    return value ? [[name, value]] : []
  })
  const headers = toPageHeaders(path, page, total, { same: Object.fromEntries(same) })
  return json({ users, aud: selected.audience, total }, headers)
}

export const adminGetUser = defineEndpoint({
  method: 'GET',
  path: `${path}/:user_id`,
  summary: 'Returns a user',
  allowed: 'admin',
  success: { status: 200, description: 'The user record' },
  async handle({ params }, services) {
    return json(toUserRecord(await getUser(services, readUserId(params))))
  },
})

const metadata = Type.Record(Type.String(), Type.Unknown())

/** The fields that administrators can set, both for new and for existing users. */
const userFields = {
  role: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  password: Type.Optional(Type.String()),
  email_confirm: Type.Optional(
    Type.Boolean({ description: 'Whether the email address is confirmed' }),
  ),
  phone_confirm: Type.Optional(
    Type.Boolean({ description: 'Whether the phone number is confirmed' }),
  ),
  user_metadata: Type.Optional(metadata),
  app_metadata: Type.Optional(metadata),
  ban_duration: Type.Optional(
    Type.String({
      description: 'Duration with the units ns, us, ms, s, m or h, such as 24h; or none',
    }),
  ),
}

const changes = Type.Object(userFields)

const body = Type.Object({
  ...userFields,
  id: Type.Optional(Type.String({ description: 'UUID of the new user' })),
  aud: Type.Optional(Type.String({ description: 'Audience of the new user' })),
  password_hash: Type.Optional(Type.String({ description: formatNames })),
})

const success = { status: 200, description: 'The user record' } as const

export const adminCreateUser = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Creates a user',
  allowed: 'admin',
  body,
  success,
  handle: (call, services) => create(call, services, call.body.id),
})

export const adminCreateUserWithId = defineEndpoint({
  method: 'POST',
  path: `${path}/:user_id`,
  summary: 'Creates a user with this ID',
  allowed: 'admin',
  body,
  success,
  handle: (call, services) => create(call, services, call.params['user_id']),
})

async function create(
  call: Call<Static<typeof body>> & { readonly adminRole: string },
  services: Services,
  id: string | undefined,
): Promise<Answer> {
  const { body: fields, adminRole, client } = call
  checkText('aud', fields.aud ?? '')
  return json(
    await createUserAsAdmin(services, {
      ...parseUserFields(fields),
      id: parseNewId(id),
      aud: fields.aud || call.audience,
      passwordHash: fields.password_hash || undefined,
      isEmailConfirmed: fields.email_confirm ?? false,
      isPhoneConfirmed: fields.phone_confirm ?? false,
      userMetadata: parseUserMetadata(services, fields.user_metadata),
      appMetadata: parseAppMetadata(services, fields.app_metadata),
      bannedUntil: parseBan(fields.ban_duration, services.now()),
      adminRole,
      client,
    }),
  )
}

export const adminUpdateUser = defineEndpoint({
  method: 'PUT',
  path: `${path}/:user_id`,
  summary: 'Updates a user',
  allowed: 'admin',
  body: changes,
  success: { status: 200, description: 'The user record' },
  async handle({ body, params, adminRole, adminSubject, client }, services) {
    const { user_metadata: userMetadata, app_metadata: appMetadata } = body
    return json(
      await updateUserAsAdmin(services, {
        ...parseUserFields(body),
        userId: readUserId(params),
        confirmsEmail: body.email_confirm ?? false,
        confirmsPhone: body.phone_confirm ?? false,
        userMetadata: userMetadata && toMetadata(userMetadata),
        appMetadata: appMetadata && toMetadata(appMetadata),
        bannedUntil: parseBan(body.ban_duration, services.now()),
        adminRole,
        adminSubject,
        client,
      }),
    )
  },
})

export const adminDeleteUser = defineEndpoint({
  method: 'DELETE',
  path: `${path}/:user_id`,
  summary: 'Deletes a user with all their data, or only their personal data (soft delete)',
  allowed: 'admin',
  // A request without a body is parsed as null.
  body: Type.Union([
    Type.Object({
      should_soft_delete: Type.Optional(
        Type.Boolean({ description: 'Deletes the personal data but keeps the ID' }),
      ),
    }),
    Type.Null(),
  ]),
  success: { status: 200, description: 'An empty object' },
  async handle({ body, params, adminRole, client }, services) {
    await removeUser(services, {
      userId: readUserId(params),
      isSoft: body?.should_soft_delete ?? false,
      adminRole,
      ip: client.ip,
    })
    return json({})
  },
})

/** Reads the user ID from the path. @throws {ApiError} */
export function readUserId(params: Readonly<Record<string, string>>): string {
  const id = params['user_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('user_id must be an UUID', { status: 404 })
}

/** Parses the ID of a new user. Undefined when the request does not choose one. @throws {ApiError} */
function parseNewId(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined
  if (!uuidPattern.test(id)) throw invalid('ID must conform to the uuid v4 format')
  if (id === nilId) throw invalid('ID cannot be a nil uuid')
  return id.toLowerCase()
}

/** Empty strings count as omitted. @throws {ApiError} */
function parseUserFields(fields: Static<typeof changes>) {
  const { role = '', email = '', phone = '', password = '' } = fields
  checkText('role', role)
  return {
    role: role || undefined,
    email: email === '' ? undefined : parseEmail(email),
    phone: phone === '' ? undefined : parsePhone(phone),
    password: password || undefined,
  }
}
