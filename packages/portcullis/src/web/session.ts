import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleSession } from '../console/routes/session.ts'

export type { ConsoleSession }

export const SessionContext = createContext<ConsoleSession>({ version: '', parts: {} })

/** What this console was started with. */
export function useSession(): ConsoleSession {
  return useContext(SessionContext)
}

/** The first steps that Overview suggests, by the page where each is done. */
export type FirstStep = '/users' | '/try' | '/limits'

const storageKey = 'portcullis-steps-done'

export function readDoneSteps(): readonly string[] {
  return (localStorage.getItem(storageKey) ?? '').split(' ')
}

/** From now on Overview does not suggest it any more. */
export function noteStepDone(step: FirstStep): void {
  const done = readDoneSteps()
  if (!done.includes(step)) localStorage.setItem(storageKey, [...done, step].join(' ').trim())
}
