import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { toAdminEntry, toAuditEntry } from '../audit/audit.ts'
import { isConcurrentChange } from '../external/account-changes.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { mayVouchFor } from '../sso/providers.ts'
import { insertUser, unconfirmed } from '../user-changes/new-users.ts'
import { applyPatch, type ScimObject } from './rules/patch.ts'
import { checkVersion } from './rules/resource-version.ts'
import { scimError } from './rules/scim-error.ts'
import {
  findUserEmail,
  parseUserResource,
  type ScimUserFields,
  toUserMetadata,
  toUserResource,
} from './rules/user-resource.ts'
import {
  findScimUser,
  findScimUserByName,
  findUnprovisionedUser,
  type ScimUserRow,
  writeScimUser,
} from './statements/users.ts'

/** A request of an identity provider. */
export interface ScimContext {
  readonly providerId: string
  readonly ip: string
  readonly audience: string
  /** The URL of the SCIM API. */
  readonly baseUrl: string
  /** The header, which names the version that may be changed. */
  readonly ifMatch: string | undefined
}

/** @throws {ApiError} */
export async function getScimUser(
  { db }: Services,
  { providerId }: ScimContext,
  id: string,
): Promise<ScimUserRow> {
  const [row] = uuidPattern.test(id) ? await db.run(findScimUser, { providerId, id }) : []
  if (row !== undefined) return row
  throw new ApiError('scim_resource_not_found', `User ${id.slice(0, 100)} not found`)
}

async function getForChange(
  services: Services,
  context: ScimContext,
  id: string,
): Promise<ScimUserRow> {
  const row = await getScimUser(services, context, id)
  checkVersion(context.ifMatch, row)
  return row
}

/**
 * Provisions a user: one who was deleted, one who has signed in before, or a new one.
 * @throws {ApiError}
 */
export async function createScimUser(
  services: Services,
  context: ScimContext,
  resource: ScimObject,
): Promise<ScimUserRow> {
  const { db } = services
  const { providerId } = context
  const fields = parseUserResource(resource, true)
  const { user_name: userName } = fields
  const [known] = await db.run(findScimUserByName, { providerId, userName })
  if (known !== undefined && known.deleted_at === null) throw nameTaken(userName)
  const userId = known?.user_id ?? (await findOrCreateAccount(services, context, fields))
  return await write(services, context, { userId, fields, expected: null, isDeleted: false })
}

async function findOrCreateAccount(
  services: Services,
  context: ScimContext,
  fields: ScimUserFields,
): Promise<string> {
  const provider = `sso:${context.providerId}`
  const email = findUserEmail(fields)
  const { user_name: userName } = fields
  const [known] = await services.db.run(findUnprovisionedUser, { provider, userName, email })
  if (known !== undefined) return known.id
  const user = await createAccount(services, context, fields)
  if (user !== undefined) return user.id
  throw new ApiError('conflict', 'The user is being changed, please try again')
}

/** Undefined when a concurrent request created the account. */
async function createAccount(services: Services, context: ScimContext, fields: ScimUserFields) {
  const provider = `sso:${context.providerId}`
  const email = findUserEmail(fields)
  const isEmailVerified = await isVerified(services, context, email)
  const now = new Date(services.now())
  const actor = { id: randomUUID(), email, phone: null, is_sso_user: true }
  const account = {
    ...unconfirmed,
    ...actor,
    aud: context.audience,
    role: services.config.tokens.defaultGroup,
    email_confirmed_at: isEmailVerified ? now : null,
    raw_app_meta_data: { provider, providers: [provider] },
    raw_user_meta_data: toUserMetadata(fields, isEmailVerified),
    is_anonymous: false,
    // With this identity, the first sign-in finds the user if the NameID is the user name.
    identities: [toIdentity(provider, fields, email, isEmailVerified)],
    now,
    ip: context.ip,
    flow: null,
    token: null,
    messages: [],
    cap_most: null,
    cap_refill_ms: null,
    audit: toAuditEntry('user_signedup', actor, { provider }),
  }
  try {
    return await insertUser(services, account)
  } catch (error) {
    if (isConcurrentChange(error)) return undefined
    throw error
  }
}

async function isVerified(
  services: Services,
  { providerId }: ScimContext,
  email: string | null,
): Promise<boolean> {
  return email !== null && (await mayVouchFor(services, { id: providerId }, email))
}

function toIdentity(
  provider: string,
  fields: ScimUserFields,
  email: string | null,
  isEmailVerified: boolean,
) {
  const sub = fields.user_name.toLowerCase()
  const verified = { email, email_verified: isEmailVerified }
  const data = { sub, provider_id: sub, ...(email !== null && verified) }
  return { id: randomUUID(), provider, provider_id: sub, identity_data: data }
}

/** @throws {ApiError} */
export async function replaceScimUser(
  services: Services,
  context: ScimContext,
  id: string,
  resource: ScimObject,
): Promise<ScimUserRow> {
  const { updated_at: expected, active } = await getForChange(services, context, id)
  const fields = parseUserResource(resource, active)
  return await write(services, context, { userId: id, fields, expected, isDeleted: false })
}

/** @throws {ApiError} */
export async function patchScimUser(
  services: Services,
  context: ScimContext,
  id: string,
  body: ScimObject,
): Promise<ScimUserRow> {
  const row = await getForChange(services, context, id)
  const patched = applyPatch(toUserResource(row, context.baseUrl), body)
  const fields = parseUserResource(patched, row.active)
  const expected = row.updated_at
  return await write(services, context, { userId: id, fields, expected, isDeleted: false })
}

/** The account stays, banned, so that what belongs to it is not lost. @throws {ApiError} */
export async function deleteScimUser(
  services: Services,
  context: ScimContext,
  id: string,
): Promise<void> {
  const row = await getForChange(services, context, id)
  const { user_name, external_id, attributes, updated_at: expected } = row
  const fields = { user_name, external_id, attributes, active: false }
  await write(services, context, { userId: id, fields, expected, isDeleted: true })
}

interface UserWrite {
  readonly userId: string
  readonly fields: ScimUserFields
  /** The version that was read; null when the user is provisioned. */
  readonly expected: string | null
  readonly isDeleted: boolean
}

async function write(
  services: Services,
  context: ScimContext,
  { userId, fields, expected, isDeleted }: UserWrite,
): Promise<ScimUserRow> {
  const { providerId, ip } = context
  const email = findUserEmail(fields)
  const isEmailVerified = await isVerified(services, context, email)
  const traits = { user_id: userId, sso_provider_id: providerId, active: fields.active }
  try {
    const [row] = await services.db.run(writeScimUser, {
      user_id: userId,
      sso_provider_id: providerId,
      ...fields,
      is_deleted: isDeleted,
      email,
      is_email_verified: isEmailVerified,
      user_metadata: toUserMetadata(fields, isEmailVerified),
      expected,
      now: new Date(services.now()),
      ip,
      audit: toAdminEntry('user_modified', 'scim', traits),
    })
    if (row !== undefined) return row
  } catch (error) {
    if (isTaken(error, 'scim_users_name')) throw nameTaken(fields.user_name)
    throw error
  }
  throw new ApiError('conflict', 'The user was changed at the same time, please try again')
}

function nameTaken(userName: string): ApiError {
  return scimError('uniqueness', `Another user has the userName ${userName}`)
}
