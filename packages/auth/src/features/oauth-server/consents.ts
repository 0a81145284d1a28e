import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { AuditEntry } from '../audit/audit.ts'
import { type GrantRow, listGrants, revokeGrant } from './statements/authorizations.ts'

/** What a user has granted to clients, newest first. */
export async function findGrants({ db }: Services, userId: string) {
  const rows = await db.run(listGrants, { userId })
  return rows.map((row) => ({
    client: toShownClient(row),
    scopes: row.scopes,
    resources: row.resources,
    granted_at: row.granted_at,
  }))
}

type ShownClient = Pick<
  GrantRow,
  'client_id' | 'metadata_url' | 'client_name' | 'client_uri' | 'logo_uri'
>

/** The client as users see it. */
export function toShownClient(client: ShownClient) {
  const { client_name: name, client_uri: uri, logo_uri } = client
  return {
    id: client.metadata_url ?? client.client_id,
    ...(name !== '' && { name }),
    ...(uri !== '' && { uri }),
    ...(logo_uri !== '' && { logo_uri }),
  }
}

interface Revocation {
  readonly userId: string
  readonly clientId: string
  readonly entry: AuditEntry
  readonly ip: string
}

/** @throws {ApiError} if the user has granted nothing to the client. */
export async function removeGrant(
  { db, now }: Services,
  { userId, clientId, entry, ip }: Revocation,
): Promise<void> {
  const [revoked] = await db.run(revokeGrant, {
    userId,
    clientId,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
  if (revoked !== undefined) return
  throw new ApiError('oauth_consent_not_found', 'No active grant found for this client')
}
