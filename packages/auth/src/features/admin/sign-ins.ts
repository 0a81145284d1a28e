import type { Services } from '../../services.ts'
import { stepSeconds } from '../audit/sign-in-log.ts'
import {
  listSignInCounts,
  listSignInFailures,
  listUserSignInFailures,
  type SignInFailureRow,
} from '../audit/statements.ts'
import type { Page } from './pages.ts'

const dayMs = 86_400_000

/** Those of the last day. @param sinceMs only those after this time; undefined: all of the day. */
export async function countSignIns({ db, now, startedAt }: Services, sinceMs = 0) {
  const first = new Date(Math.max(sinceMs, now() - dayMs))
  return {
    started_at: new Date(startedAt).toISOString(),
    now: new Date(now()).toISOString(),
    step_seconds: stepSeconds,
    counts: await db.run(listSignInCounts, { first }),
  }
}

/** @param userId only those of this user. */
export async function findSignInFailures(
  { db }: Services,
  { offset, size }: Page,
  userId?: string,
): Promise<readonly SignInFailureRow[]> {
  return userId === undefined
    ? await db.run(listSignInFailures, { offset, limit: size })
    : await db.run(listUserSignInFailures, { offset, limit: size, userId })
}
