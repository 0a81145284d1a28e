import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleSession } from '../console/routes/session.ts'

export type { ConsoleSession }

export const SessionContext = createContext<ConsoleSession>({ version: '', parts: {} })

/** What this console was started with. */
export function useSession(): ConsoleSession {
  return useContext(SessionContext)
}
