import type { Session } from '../../../console/routes/users-upstream.ts'
import { ApiError, callApi } from '../../api.ts'

export function toSessionsPath(userId: string): string {
  return `/api/users/${userId}/sessions`
}

/** Revokes sessions of a user. */
export async function revokeSessions(userId: string, sessions: readonly Session[]): Promise<void> {
  await Promise.all(sessions.map(({ id }) => revokeSession(`${toSessionsPath(userId)}/${id}`)))
}

export async function revokeAllSessions(userId: string): Promise<void> {
  await revokeSessions(userId, await callApi<readonly Session[]>(toSessionsPath(userId)))
}

async function revokeSession(path: string): Promise<void> {
  try {
    await callApi(path, { method: 'DELETE' })
  } catch (error) {
    // The session has ended in the meantime, which is the desired result.
    if (!(error instanceof ApiError && error.status === 404)) throw error
  }
}
