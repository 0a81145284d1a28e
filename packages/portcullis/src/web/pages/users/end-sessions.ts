import type { Session } from '../../../console/routes/users-upstream.ts'
import { ApiError, callApi } from '../../api.ts'

export function toSessionsPath(userId: string): string {
  return `/api/users/${userId}/sessions`
}

/** Ends sessions of a user. */
export async function endSessions(userId: string, sessions: readonly Session[]): Promise<void> {
  await Promise.all(sessions.map(({ id }) => endSession(`${toSessionsPath(userId)}/${id}`)))
}

export async function endAllSessions(userId: string): Promise<void> {
  await endSessions(userId, await callApi<readonly Session[]>(toSessionsPath(userId)))
}

async function endSession(path: string): Promise<void> {
  try {
    await callApi(path, { method: 'DELETE' })
  } catch (error) {
    // The session has ended in the meantime, which is the desired result.
    if (!(error instanceof ApiError && error.status === 404)) throw error
  }
}
