import type { Session, User } from '../../../console/routes/users-upstream.ts'
import { ApiError, callApi, isNotFound } from '../../api.ts'

/** The fields that an administrator may change. Missing fields stay unchanged. */
export interface UserChange {
  readonly email?: string
  readonly phone?: string
  readonly role?: string
  readonly password?: string
  readonly email_confirm?: boolean
  readonly phone_confirm?: boolean
  readonly ban_duration?: string
  readonly user_metadata?: Readonly<Record<string, unknown>>
  readonly app_metadata?: Readonly<Record<string, unknown>>
}

export function changeUser(userId: string, change: UserChange): Promise<User> {
  return callApi<User>(`/api/users/${userId}`, { method: 'PUT', body: change })
}

export function toSessionsPath(userId: string): string {
  return `/api/users/${userId}/sessions`
}

/** Revokes sessions of a user. */
export async function revokeSessions(userId: string, sessions: readonly Session[]): Promise<void> {
  await Promise.all(sessions.map(({ id }) => removePart(`${toSessionsPath(userId)}/${id}`)))
}

export async function revokeAllSessions(userId: string): Promise<void> {
  await revokeSessions(userId, await callApi<readonly Session[]>(toSessionsPath(userId)))
}

/** Deletes something that belongs to a user: a session, a second factor or a passkey. */
export async function removePart(path: string): Promise<void> {
  try {
    await callApi(path, { method: 'DELETE' })
  } catch (error) {
    // If it is gone already, the desired result is reached; unless the user is gone too.
    const isUserGone = error instanceof ApiError && error.code === 'user_not_found'
    if (!isNotFound(error) || isUserGone) throw error
  }
}
