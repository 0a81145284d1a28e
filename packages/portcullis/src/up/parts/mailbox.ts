import type { StartPart } from '../part.ts'

// PLACEHOLDER: written by the mailbox part.
export const startMailbox: StartPart = async () => ({ stop: async () => {} })
