// Opens one server, reports it, and keeps running, so that a test can kill it.
import { MissingProgramError, type OpenServer, servers } from '../../src/index.ts'

const openers: Record<string, () => Promise<OpenServer>> = servers
try {
  const server = await openers[process.argv[2] ?? '']?.()
  console.log(JSON.stringify({ folder: server?.folder }))
  setInterval(() => {}, 1000)
} catch (error) {
  if (!(error instanceof MissingProgramError)) throw error
  console.log(JSON.stringify({ missing: error.message, isOptional: error.isOptional }))
}
