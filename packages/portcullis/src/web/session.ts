import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleSession } from '../console/routes/session.ts'

export type { ConsoleSession }

export const SessionContext = createContext<ConsoleSession>({ version: '', parts: {} })

/** Returns the configuration of this console. */
export function useSession(): ConsoleSession {
  return useContext(SessionContext)
}

/** The first steps that Overview suggests, by the page of each step. */
export type FirstStep = '/users' | '/try' | '/limits'

const storageKey = 'portcullis-steps-done'

export function readDoneSteps(): readonly string[] {
  return (localStorage.getItem(storageKey) ?? '').split(' ')
}

/** Removes the step from the suggestions on Overview. */
export function noteStepDone(step: FirstStep): void {
  const done = readDoneSteps()
  if (!done.includes(step)) localStorage.setItem(storageKey, [...done, step].join(' ').trim())
}
